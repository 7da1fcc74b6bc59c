// Device functions into the kernel that calls them.
#pragma once

#include <llvm/IR/Function.h>

#include "base/result.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// inline_calls() inlines every function that `kernel` reaches, since a barrier or a thread index
// may stand in any of them; recursive ones become part of the kernel as loops (recursion.hpp).
// Calls of the device library stay; of other functions without a body are unimplemented.
Status inline_calls(llvm::Function& kernel, const KernelContext& context);

}  // namespace sluice::hostcuda::jit
