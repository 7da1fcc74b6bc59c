// Polly's model of a specialised kernel as relations from blocks to bytes. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/block_relation.hpp"
#include "analysis/passes.hpp"
#include "analysis/specialise.hpp"

namespace polly {
class Scop;
}

namespace sluice::analysis {

// PlacedTouches is what is known of every touch of a kernel. `refusal` is why Polly says nothing
// that holds for this launch, said of an address: "may wrap around in this launch".
struct PlacedTouches {
  std::vector<PlacedTouch> touches;
  std::string refusal;
};

// place_by_polly() places the touches by `scop`. Touches that Polly over-approximates are placed by
// their ranges, within the blocks that Polly gives. Nothing is under-approximated: where the model
// holds only under assumptions that this launch does not prove, it is refused.
PlacedTouches place_by_polly(polly::Scop& scop, const Specialised& kernel, const AccessForm& form,
                             const ShapeFamily& family, llvm::ScalarEvolution& evolution);

// place_by_ranges() places every touch by the range of its offset alone. `refusal` is Polly's.
PlacedTouches place_by_ranges(isl::ctx context, const Specialised& kernel, const AccessForm& form,
                              const ShapeFamily& family, llvm::ScalarEvolution& evolution,
                              const std::string& refusal = {});

}  // namespace sluice::analysis
