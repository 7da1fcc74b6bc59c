// One function of a kernel's PTX as a task body needs it.
#pragma once

#include "base/result.hpp"
#include "megakernel/cuda/rewrite/rewrite_context.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// rewrite_function() returns the function with every access to parameters, shared and module
// variables, special registers, barriers and ends replaced. Of a kernel it makes the task body.
Result<ptx::Function> rewrite_function(const RewriteContext& context,
                                       const ptx::Function& function);

}  // namespace sluice::megakernel
