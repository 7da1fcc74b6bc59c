// The journal's records of allocations.
#pragma once

#include <string_view>

#include "dro/fields.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

// BufferRecord is an allocation.
struct BufferRecord {
  static constexpr std::string_view kind = "buffer";
  static constexpr Role role = Role::input;
  BufferId id = 0;
  uint64_t bytes = 0;
};

template <>
inline constexpr auto members<BufferRecord> = [](auto& record, auto& member) {
  member("id", record.id);
  member("bytes", record.bytes);
};

// FreeRecord is the end of an allocation.
struct FreeRecord {
  static constexpr std::string_view kind = "free";
  static constexpr Role role = Role::input;
  BufferId id = 0;
};

template <>
inline constexpr auto members<FreeRecord> =
    [](auto& record, auto& member) { member("id", record.id); };

// HostWriteRecord is a copy or memset to bytes [begin, end) of a buffer, ordered after all launches
// before it.
struct HostWriteRecord {
  static constexpr std::string_view kind = "host_write";
  static constexpr Role role = Role::input;
  BufferId buffer = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

template <>
inline constexpr auto members<HostWriteRecord> = [](auto& record, auto& member) {
  member("buffer", record.buffer);
  member("begin", record.begin);
  member("end", record.end);
};

}  // namespace sluice::dro
