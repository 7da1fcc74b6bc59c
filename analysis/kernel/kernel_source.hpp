// From a kernel's PTX to what the analysis works on. Internal to the analysis.
#pragma once

#include <llvm/IR/LLVMContext.h>

#include "analysis/kernel/access_form.hpp"
#include "base/result.hpp"
#include "ptx/lift.hpp"
#include "ptx/syntax.hpp"

namespace sluice::analysis {

// kernel_source() lifts a kernel of the module, without the instructions that are left out, and
// says what its PTX tells of its parameters. An error where it cannot be lifted.
Result<KernelSource> kernel_source(llvm::LLVMContext& context, const ptx::Module& module,
                                   const ptx::Function& kernel, const ptx::LeftOut& left_out);

}  // namespace sluice::analysis
