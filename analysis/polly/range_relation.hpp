// Where the touches of a specialised kernel may lie, by the ranges of their offsets. Internal to
// the analysis.
#pragma once

#include <vector>

#include <llvm/IR/Instructions.h>

#include "analysis/polly/block_relation.hpp"
#include "analysis/polly/specialise.hpp"

namespace sluice::analysis {

// PlacedTouches is what is known of every touch of a kernel. `refusal` is why Polly says nothing
// that holds for this launch.
struct PlacedTouches {
  std::vector<PlacedTouch> touches;
  Widening refusal = Widening::none;
};

// place_by_range() places one kind of touches of the place that `store` stands for. `otherwise`
// is the reason where no value from memory is to blame.
PlacedTouch place_by_range(isl::ctx context, const llvm::StoreInst& store,
                           const TouchesOfPlace& touches, const Specialised& kernel,
                           const AccessForm& form, const ShapeFamily& family,
                           llvm::ScalarEvolution& evolution, Widening otherwise);

// place_by_ranges() places every touch so. `refusal` is Polly's. It costs little whatever
// the kernel: ranges of one slot and kind that move alike become a few.
PlacedTouches place_by_ranges(isl::ctx context, const Specialised& kernel, const AccessForm& form,
                              const ShapeFamily& family, llvm::ScalarEvolution& evolution,
                              Widening refusal = Widening::none);

// add_any_byte() adds the touches that may mean any byte of their slot.
void add_any_byte(const Specialised& kernel, const AccessForm& form, PlacedTouches& placed);

}  // namespace sluice::analysis
