#include "analysis/shape/footprint_maker.hpp"

#include <polly/ScopInfo.h>

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

std::optional<std::vector<ArgumentFootprint>> exact_arguments(const AccessForm& form,
                                                              const Specialised& kernel,
                                                              const ShapeFamily& family,
                                                              Passes& passes, Widening& refusal) {
  if (kernel.places.size() > most_places_for_polly ||
      kernel.places.size() * kernel.function->size() > most_places_times_blocks) {
    refusal = Widening::large_kernel;
    return std::nullopt;
  }
  polly::Scop* scop = passes.scop(*kernel.function);
  if (scop == nullptr) {
    log::debug("{}: {}", form.signature.kernel, passes.refusal(*kernel.function));
    return std::nullopt;
  }
  const OperationBudget budget(scop->getIslCtx());
  const PlacedTouches placed =
      place_by_polly(*scop, kernel, form, family, passes.scalar_evolution(*kernel.function));
  refusal = placed.refusal;
  if (refusal != Widening::none) return std::nullopt;
  return assemble(form, placed.touches, family);
}

std::vector<ArgumentFootprint> bounded_arguments(const AccessForm& form, const Specialised& kernel,
                                                 const ShapeFamily& family, Passes& passes,
                                                 Widening refusal) {
  const std::unique_ptr<isl_ctx, decltype(&isl_ctx_free)> context(isl_ctx_alloc(), isl_ctx_free);
  PlacedTouches placed = place_by_ranges(context.get(), kernel, form, family,
                                         passes.scalar_evolution(*kernel.function), refusal);
  {
    const OperationBudget budget(context.get());
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
  if (auto arguments = exact_arguments(form_, kernel, family, passes_, refusal)) {
    footprint.arguments = std::move(*arguments);
  } else {
    footprint.arguments = bounded_arguments(form_, kernel, family, passes_, refusal);
  }
  passes_.clear();
  kernel.function->eraseFromParent();
  return footprint;
}

}  // namespace sluice::analysis
