// The checksum of the journal's lines.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::dro {

// crc32c() is the CRC-32C (Castagnoli) of a text, by the processor's own instruction where there is
// one: the journal seals a line of some hundred bytes for each launch.
uint32_t crc32c(std::string_view text);

// crc32c_by_table() is the same on any processor.
uint32_t crc32c_by_table(std::string_view text);

}  // namespace sluice::dro
