// Short names for long texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// digest() is the 128-bit XXH3 of a text in 32 hexadecimal digits, fit for a file name. It tells
// texts apart that nobody made to look alike, at the speed of memory. Thread-safe.
std::string digest(std::string_view text);

// short_digest() is the 64-bit XXH3 of bytes that come after bytes of digest `before`.
uint64_t short_digest(std::string_view bytes, uint64_t before = 0);

}  // namespace sluice
