// What the environment sets of what the device says of itself, for programs and tests that ask.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice::hostcuda {

struct ComputeCapability {
  int major = 8;
  int minor = 0;
};

// read_compute() reads "8.9"; nothing of anything else.
std::optional<ComputeCapability> read_compute(std::string_view text);

// read_bytes() reads a number of bytes: "1G", "512MiB", "1073741824"; K, M, G and T are powers of
// 1024. Nothing of anything else, and of 0.
std::optional<size_t> read_bytes(std::string_view text);

// SLUICE_CPU_COMPUTE and SLUICE_CPU_MEMORY; nothing where they are unset, or no such values, which
// the log then says.
std::optional<ComputeCapability> compute_setting();
std::optional<size_t> memory_setting();

}  // namespace sluice::hostcuda
