// Blocks that wait for one another inside a launch. Internal to the analysis.
#pragma once

#include <string>

#include <llvm/IR/Function.h>

namespace sluice::analysis {

// grid_communication() is why the kernel seems to wait for other blocks of its own launch: a loop
// whose exit depends on memory that it reads again and again, by its value or by the branches that
// this value takes. Empty where no such loop is found.
// A compare-and-swap that retries with the value it has just seen is no waiting.
std::string grid_communication(llvm::Function& kernel);

}  // namespace sluice::analysis
