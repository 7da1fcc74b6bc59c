// One function of a kernel's PTX as a task body needs it.
#pragma once

#include <set>
#include <string>

#include "base/dim3.hpp"
#include "base/result.hpp"
#include "megakernel/cuda/places.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

struct RewriteContext {
  const ptx::Module& module;
  const Places& places;
  Dim3 block;
  std::string prefix;  // of the names of functions that the body defines
  bool drains = false;
  // Exchanges of values in a warp that may name lanes which have ended (flow.hpp).
  const std::set<const ptx::Instruction*>& exchanges_past_ends;
};

// rewrite_function() returns the function with every access to parameters, shared and module
// variables, special registers, barriers and ends replaced. Of a kernel it makes the task body.
Result<ptx::Function> rewrite_function(const RewriteContext& context,
                                       const ptx::Function& function);

}  // namespace sluice::megakernel
