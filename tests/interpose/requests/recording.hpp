// What the recording driver and who asks it both know: the values that are made up for arguments
// and answers, and how a call is written down.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include <cuda.h>
#include <fmt/format.h>

namespace sluice::testing {

// Recording is the table that the recording driver gives for `recording_id`.
struct Recording {
  // answer() is the result of all calls from now on; those that fail write nothing.
  void (*answer)(CUresult result);
  // take() is the calls so far, a line each, but for those taken before. Good until the next one.
  const char* (*take)();
  // enter() makes a made-up context of that device current on the calling thread; -1: none.
  void (*enter)(int device);
};
inline constexpr CUuuid recording_id = {
    {'s', 'l', 'u', 'i', 'c', 'e', '-', 'r', 'e', 'c', 'o', 'r', 'd', 'i', 'n', 'g'}};

template <class T>
concept Known = requires { sizeof(T); };
// Data is what a pointer leads to that is no handle.
template <class T>
concept Data = !std::is_void_v<T> && !std::is_function_v<T> && Known<T>;
template <class T>
concept DataPointer = std::is_pointer_v<T> && Data<std::remove_pointer_t<T>>;

inline uint64_t seed_of(const std::string& name, size_t argument) {
  return (std::hash<std::string>()(name) + argument) % 1000 + 1;
}

// made_up() is a value that no other argument is likely to have.
template <class T>
T made_up(uint64_t seed) {
  T value;
  if constexpr (std::is_pointer_v<T>) {
    value = reinterpret_cast<T>(0x7000000000 + seed * 0x1000);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    value = static_cast<T>(seed);
  } else {
    std::memset(static_cast<void*>(&value), static_cast<int>(seed % 255), sizeof value);
  }
  return value;
}

template <class T>
std::string bytes_of(const T& value) {
  std::string text;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
  for (size_t i = 0; i < sizeof value; ++i)
    text += fmt::format("{:02x}", bytes[i]);
  return text;
}

// text_of() is an argument: what a pointer to constant data leads to, else the value.
template <class T>
std::string text_of(const T& value) {
  if constexpr (std::same_as<T, const char*>) return value == nullptr ? "null" : value;
  if constexpr (DataPointer<T>) {
    if (std::is_const_v<std::remove_pointer_t<T>> && value != nullptr) return bytes_of(*value);
  }
  return bytes_of(value);
}

template <class... T>
std::string text_of_call(const std::string& name, const T&... arguments) {
  std::string text = name;
  ((text += " " + text_of(arguments)), ...);
  return text;
}

}  // namespace sluice::testing
