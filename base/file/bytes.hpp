// Bounded reading of little-endian fields from untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace sluice {

using Bytes = std::span<const std::byte>;

// read_field() reads a T at `offset`, or nothing where it would run past the end.
template <class T>
std::optional<T> read_field(Bytes bytes, uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// slice() is `size` bytes from `offset`, or nothing where they run past the end.
inline std::optional<Bytes> slice(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  return bytes.subspan(offset, size);
}

}  // namespace sluice
