// Blocks that wait for one another inside a launch. Internal to the analysis.
#pragma once

#include <llvm/IR/Function.h>

#include "analysis/widening.hpp"

namespace sluice::analysis {

// grid_communication() is why the kernel seems to wait for other blocks of its own launch: a loop
// whose exit depends on memory that it reads again and again, by its value or by the branches that
// this value takes. Empty where no such loop is found.
// A compare-and-swap that retries with the value it has just seen is no waiting.
WideningReason grid_communication(llvm::Function& kernel);

}  // namespace sluice::analysis
