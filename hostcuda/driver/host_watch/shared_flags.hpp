// Kernels by whose words threads and the host may tell each other something while they run.
#pragma once

#include <set>
#include <string>

#include "ptx/syntax.hpp"

namespace sluice::hostcuda {

// kernels_with_flags() is the names of those with volatile accesses outside shared memory, or such
// as order others or reach beyond the device; all kernels where a function that they may call has
// them.
std::set<std::string> kernels_with_flags(const ptx::Module& module);

}  // namespace sluice::hostcuda
