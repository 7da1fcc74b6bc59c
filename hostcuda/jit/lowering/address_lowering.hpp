// NVVM's address spaces as plain host pointers.
#pragma once

#include <llvm/IR/Function.h>

#include "base/result.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

inline constexpr const char* origin_function_name = "sluice.origin";

struct SharedMemory {
  uint64_t named_bytes = 0;   // up to the end of the last static variable
  uint64_t static_bytes = 0;  // a multiple of 16
  bool escapes = false;       // a shared address was made generic
  bool is_dynamic = false;    // the kernel names the dynamic pool
};

// lower_addresses() rewrites a thread function so that every pointer is a host pointer. An integer
// address in the shared space is an offset from the block's shared memory (PTX keeps them in 32
// bits); in every other space it is a host address. Module variables become their addresses,
// constant expressions instructions. Other functions of the module lose their bodies.
Result<SharedMemory> lower_addresses(llvm::Function& function, const KernelContext& context);

}  // namespace sluice::hostcuda::jit
