#include "analysis/shape/footprint_maker.hpp"

#include <polly/ScopInfo.h>

#include "analysis/analysis_cost.hpp"
#include "analysis/polly/block_relation.hpp"
#include "analysis/polly/polly_relation.hpp"
#include "analysis/polly/range_relation.hpp"
#include "analysis/polly/specialise.hpp"
#include "base/log.hpp"

namespace sluice::analysis {
namespace {

// Polly keeps a domain for every basic block and puts every place in one, so its time before isl's
// operations can be limited grows with the product. About twice what the largest kernel of
// the public suites that Polly reads in a tenth of a second has.
constexpr size_t most_places_for_polly = 1024;
constexpr size_t most_places_times_blocks = 10'000;

// What the cheaper answer may take where the exact one has taken all the rest. No kernel of the
// tests takes a hundredth of it.
constexpr Budget::Cost range_cost = {600'000, uint64_t{40} << 20U};
constexpr Budget::Cost exact_cost = {analysis_cost.steps - range_cost.steps,
                                     analysis_cost.bytes - range_cost.bytes};

std::optional<std::vector<ArgumentFootprint>> exact_arguments(const AccessForm& form,
                                                              const Specialised& kernel,
                                                              const ShapeFamily& family,
                                                              Passes& passes, Widening& refusal,
                                                              Budget& budget) {
  if (kernel.places.size() > most_places_for_polly ||
      kernel.places.size() * kernel.function->size() > most_places_times_blocks) {
    refusal = Widening::large_kernel;
    return std::nullopt;
  }
  polly::Scop* scop = passes.scop(*kernel.function, budget);
  if (scop == nullptr) {
    log::debug("{}: {}", form.signature.kernel, passes.refusal(*kernel.function));
    return std::nullopt;
  }
  const OperationBudget bounded(scop->getIslCtx(), budget);
  const PlacedTouches placed =
      place_by_polly(*scop, kernel, form, family, passes.scalar_evolution(*kernel.function));
  refusal = placed.refusal;
  if (refusal != Widening::none) return std::nullopt;
  return assemble(form, placed.touches, family);
}

std::vector<ArgumentFootprint> bounded_arguments(const AccessForm& form, const Specialised& kernel,
                                                 const ShapeFamily& family, Passes& passes,
                                                 Widening refusal, Budget& budget) {
  const std::unique_ptr<isl_ctx, decltype(&isl_ctx_free)> context(isl_ctx_alloc(), isl_ctx_free);
  PlacedTouches placed = place_by_ranges(context.get(), kernel, form, family,
                                         passes.scalar_evolution(*kernel.function), refusal);
  {
    const OperationBudget bounded(context.get(), budget);
    if (auto arguments = assemble(form, placed.touches, family)) return *arguments;
  }
  for (PlacedTouch& touch : placed.touches)
    touch.bytes = isl::map();
  return assemble(form, placed.touches, family).value();
}

}  // namespace

FootprintMaker::FootprintMaker(std::unique_ptr<llvm::LLVMContext> context, AccessForm form)
    : context_(std::move(context)), form_(std::move(form)) {}

Footprint FootprintMaker::make(const ShapeFamily& family) {
  const LaunchShape& shape = family.shape;
  Footprint footprint;
  footprint.kernel = form_.signature.kernel;
  footprint.shape = shape;
  footprint.opaque_reason = form_.opaque_reason;
  if (footprint.opaque() || shape.shape_values.size() != form_.signature.shape_scalars.size()) {
    if (!footprint.opaque()) footprint.opaque_reason.why = Widening::missing_values;
    footprint.arguments.resize(form_.signature.pointers.size());
    return footprint;
  }
  const Specialised kernel = specialise(form_, family, passes_);
  Widening refusal = Widening::none;
  Budget exactly(exact_cost), by_ranges(range_cost);
  if (auto arguments = exact_arguments(form_, kernel, family, passes_, refusal, exactly)) {
    footprint.arguments = std::move(*arguments);
  } else {
    footprint.arguments = bounded_arguments(form_, kernel, family, passes_, refusal, by_ranges);
  }
  dearest_ = Budget::larger(dearest_, {exactly.taken().steps + by_ranges.taken().steps,
                                       exactly.taken().bytes + by_ranges.taken().bytes});
  passes_.clear();
  kernel.function->eraseFromParent();
  return footprint;
}

}  // namespace sluice::analysis
