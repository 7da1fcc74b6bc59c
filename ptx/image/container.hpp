// The containers of a fat binary and their entries, byte by byte.
// Source: the layout was read off what nvcc 13 writes with each of its compression modes.
#pragma once

#include <vector>

#include "base/file/bytes.hpp"
#include "base/result.hpp"
#include "ptx/fat_binary.hpp"

namespace sluice::ptx::image {

constexpr uint32_t wrapper_magic = 0x466243B1;
constexpr uint32_t container_magic = 0xBA55ED50;

struct ContainerHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_size;
  uint64_t size;  // of all entries, after the header
};
static_assert(sizeof(ContainerHeader) == 16);

// Container is one fat binary: where it begins in the bytes that it was found in, what it holds.
struct Container {
  uint64_t offset = 0;
  std::vector<CodeEntry> entries;
};

// read_all() parses containers lying one after another; zeros may stand between them.
Result<std::vector<Container>> read_all(Bytes bytes);

}  // namespace sluice::ptx::image
