// NVVM intrinsics of one thread as plain IR.
#pragma once

#include <llvm/IR/Function.h>

#include "base/result.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// lower_intrinsics() replaces special registers, math intrinsics, fences and traps of a thread
// function. Calls that synchronise threads (sync_points.hpp) stay. What has no lowering is
// unimplemented, named with its PTX line.
Status lower_intrinsics(llvm::Function& function, const KernelContext& context,
                        uint64_t static_shared_bytes);

}  // namespace sluice::hostcuda::jit
