// Threads of neighbouring blocks as one row.
#pragma once

#include <llvm/IR/Function.h>

#include "base/dim3.hpp"

namespace sluice::hostcuda::jit {

// number_threads_by_row() holds where a thread function knows tid.x and ctaid.x only as their place
// in the grid's row, ctaid.x * block.x + tid.x, as most kernels do. It then makes of that a sum in
// which tid.x may count on over the blocks behind the one that ctaid.x names: a single loop runs
// the threads of many blocks, and what a vectorised loop costs before it begins is paid once for
// them. Otherwise it changes nothing.
bool number_threads_by_row(llvm::Function& thread, const Dim3& block);

}  // namespace sluice::hostcuda::jit
