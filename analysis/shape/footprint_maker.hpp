// From a kernel in access form to the footprints of its launches. Internal to the analysis.
#pragma once

#include <memory>

#include <llvm/IR/LLVMContext.h>

#include "analysis/footprint.hpp"
#include "analysis/kernel/access_form.hpp"
#include "analysis/rewrite/passes.hpp"
#include "analysis/shape_family.hpp"
#include "relation/budget.hpp"

namespace sluice::analysis {

// FootprintMaker owns a kernel in access form and its LLVM context. Not thread-safe.
class FootprintMaker {
 public:
  FootprintMaker(std::unique_ptr<llvm::LLVMContext> context, AccessForm form);

  const AccessForm& form() const { return form_; }

  // make() never fails; see KernelAnalysis::footprint(). The relations of a family with symbolic
  // numbers have them as parameters.
  Footprint make(const ShapeFamily& family);

  // dearest() is what the dearest analysis so far took, at most analysis_cost.
  const Budget::Cost& dearest() const { return dearest_; }

 private:
  std::unique_ptr<llvm::LLVMContext> context_;
  AccessForm form_;
  Passes passes_;
  Budget::Cost dearest_;
};

}  // namespace sluice::analysis
