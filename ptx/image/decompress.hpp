// The two compressions of PTX in fat binaries.
#pragma once

#include <string>

#include "base/file/bytes.hpp"
#include "base/result.hpp"

namespace sluice::ptx::image {

enum class Compression { zstd, lz4 };

// PTX above this size is taken for a damaged header: 256 MiB.
constexpr uint64_t largest_text = uint64_t{256} << 20;

// decompress() returns exactly `size` bytes (0: as many as the zstd frame says). The error has no
// place in it; the caller knows the offset.
Result<std::string> decompress(Compression method, Bytes compressed, uint64_t size);

}  // namespace sluice::ptx::image
