// What a kernel computes of its threads' places in their warps.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "hostcuda/jit/threads/thread_loops.hpp"

namespace sluice::hostcuda::jit {

// fold_lanes() makes of tid.x & 31 in the copies of `blocks` the loop's counter, and of tid.x >> 5
// or tid.x & ~31, also of a thread's number in the grid and of either times a power of two, what
// all lanes of the warp have alike.
void fold_lanes(llvm::ArrayRef<llvm::BasicBlock*> blocks, const WarpLoops& warp,
                const ThreadLoops& loops, llvm::ValueToValueMapTy& map);

}  // namespace sluice::hostcuda::jit
