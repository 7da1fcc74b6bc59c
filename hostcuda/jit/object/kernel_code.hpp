// From the lifted IR of one kernel to an object file for one block size.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/LLVMContext.h>
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

// Both forms of a kernel's code give the same bits and need the same scratch memory. The quick one
// is made in a small part of the time, and its loops are no vectors.
enum class Form { quick, good };

// LlvmModule is a module and the context it lives in, which ends after it.
struct LlvmModule {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

// LoweredKernel is a kernel's block functions in LLVM's IR, as they are before they get a form.
struct LoweredKernel {
  LlvmModule llvm;
  std::string kernel;
  KernelCode code;  // without its object file
};

// lower_kernel() takes a lifted module (conventions in ptx/lift.hpp). Thread-safe, as are the
// others.
Result<LoweredKernel> lower_kernel(LlvmModule lifted, const KernelContext& context);

// finish_kernel() compiles. Calls of the quick form go through a QuickForm
// (library/quick_form.hpp).
Result<KernelCode> finish_kernel(LoweredKernel kernel, Form form);

// packed() and unpacked() take a kernel to an LLVM context of its own, for another thread.
struct PackedKernel {
  std::string bitcode;
  std::string kernel;
  KernelCode code;  // without its object file
};
PackedKernel packed(const LoweredKernel& kernel);
Result<LoweredKernel> unpacked(PackedKernel packed);

}  // namespace sluice::hostcuda::jit
