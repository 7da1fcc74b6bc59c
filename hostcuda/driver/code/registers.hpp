// How many registers a kernel would take on a GPU.
#pragma once

#include <string>

#include "ptx/syntax.hpp"

namespace sluice::hostcuda {

// estimated_registers() is the most registers of 32 bits that hold values at one instruction of the
// kernel, or of a function that it may call: from the first to the last mention of each in the
// text. What ptxas would spill, share or keep over a loop's end is not known here. At least 16, and
// at most what .maxnreg says, or lets a block of max_threads have its registers of the 65,536 there
// are.
unsigned estimated_registers(const ptx::Module& module, const std::string& kernel,
                             unsigned max_threads);

}  // namespace sluice::hostcuda
