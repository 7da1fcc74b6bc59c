#include "analysis/kernel_analysis.hpp"

#include <string>
#include <utility>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "analysis/kernel/access_form.hpp"
#include "analysis/kernel/data_only.hpp"
#include "analysis/kernel/kernel_source.hpp"
#include "analysis/shape/footprint_maker.hpp"
#include "analysis/shape/shape_policy.hpp"

namespace sluice::analysis {
struct KernelAnalysis::State {
  State(std::unique_ptr<llvm::LLVMContext> context, AccessForm form)
      : maker(std::move(context), std::move(form)), policy(maker) {}
  FootprintMaker maker;
  ShapePolicy policy;
};

Result<std::unique_ptr<KernelAnalysis>> KernelAnalysis::create(const ptx::Module& module,
                                                               std::string_view kernel) {
  const ptx::Function* function = module.find_function(kernel);
  if (function == nullptr || !function->is_entry) {
    return invalid_input("no kernel of that name in the PTX", std::string(kernel));
  }
  auto context = std::make_unique<llvm::LLVMContext>();
  auto source = kernel_source(*context, module, *function, data_only(function->body));
  if (!source) return tl::unexpected(source.error());
  auto form = reduce(std::move(*source));
  if (!form) return tl::unexpected(form.error());
  auto state = std::make_unique<State>(std::move(context), std::move(*form));
  return std::unique_ptr<KernelAnalysis>(new KernelAnalysis(std::move(state)));
}

KernelAnalysis::KernelAnalysis(std::unique_ptr<State> state) : state_(std::move(state)) {}
KernelAnalysis::~KernelAnalysis() = default;

const KernelSignature& KernelAnalysis::signature() const {
  return state_->maker.form().signature;
}

Footprint KernelAnalysis::footprint(const LaunchShape& shape) {
  return state_->policy.footprint(shape);
}

const ShapeFamily* KernelAnalysis::family() const {
  return state_->policy.family();
}

uint64_t KernelAnalysis::analyses() const {
  return state_->policy.analyses();
}

Budget::Cost KernelAnalysis::dearest() const {
  return state_->maker.dearest();
}

}  // namespace sluice::analysis
