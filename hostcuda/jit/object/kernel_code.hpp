// From the lifted IR of one kernel to an object file for one block size.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>

#include "base/result.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"
#include "hostcuda/jit/warp/exchange.hpp"

namespace sluice::hostcuda::jit {

// KernelCode is compiled, not yet linked.
struct KernelCode {
  std::unique_ptr<llvm::MemoryBuffer> object;
  std::string symbol;             // a SluiceBlockFunction
  uint64_t scratch_bytes = 0;     // without dynamic shared memory, which comes last
  bool waits_for_blocks = false;  // insert_waits()
};

// compile_kernel() compiles a lifted module (conventions in ptx/lift.hpp), which it consumes.
// Thread-safe for distinct LLVM contexts.
Result<KernelCode> compile_kernel(std::unique_ptr<llvm::Module> module,
                                  const KernelContext& context);

}  // namespace sluice::hostcuda::jit
