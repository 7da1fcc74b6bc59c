// Kernels by whose words threads and the host may tell each other something while they run.
#pragma once

#include <string>

#include "ptx/syntax.hpp"

namespace sluice::hostcuda {

// shares_flags() is whether a kernel, or a function that it may call, has volatile accesses outside
// shared memory, or such as order others or reach beyond the device.
bool shares_flags(const ptx::Module& module, const std::string& kernel);

}  // namespace sluice::hostcuda
