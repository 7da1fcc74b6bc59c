// Where a kernel's parameters lie in the parameter block that a launch hands over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/syntax.hpp"

namespace sluice::ptx {

// ParameterPlace is one parameter: name as in the PTX, offset and size in bytes, alignment in
// bytes (as written with .align, else the natural one of its element or vector).
struct ParameterPlace {
  std::string name;
  uint32_t offset = 0;
  uint32_t size = 0;
  uint32_t alignment = 1;
  friend bool operator==(const ParameterPlace&, const ParameterPlace&) = default;
};

// parameter_layout() places the parameters of `function` in order, each at the next multiple of its
// alignment. `total_bytes`, where not null, receives the end of the last one, without padding
// after it. References to textures, samplers and surfaces count as 64-bit handles. Thread-safe.
// Source: PTX ISA, "Kernel Function Parameters" and "Alignment".
std::vector<ParameterPlace> parameter_layout(const Function& function,
                                             uint32_t* total_bytes = nullptr);

}  // namespace sluice::ptx
