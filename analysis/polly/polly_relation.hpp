// Polly's model of a specialised kernel as relations from blocks to bytes. Internal.
#pragma once

#include <llvm/Analysis/ScalarEvolution.h>

#include "analysis/polly/range_relation.hpp"
#include "analysis/polly/specialise.hpp"
#include "analysis/rewrite/passes.hpp"

namespace polly {
class Scop;
}

namespace sluice::analysis {

// place_by_polly() places the touches by `scop`. Touches that Polly over-approximates are placed by
// their ranges, within the blocks that Polly gives. Nothing is under-approximated: where the model
// holds only under assumptions that this launch does not prove, it is refused.
PlacedTouches place_by_polly(polly::Scop& scop, const Specialised& kernel, const AccessForm& form,
                             const ShapeFamily& family, llvm::ScalarEvolution& evolution);

}  // namespace sluice::analysis
