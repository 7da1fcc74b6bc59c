// Touches that lie at fixed distances from each other: one place stands for all of them, so that
// Polly and isl look at it once. Internal to the analysis.
#pragma once

#include <cstdint>
#include <vector>

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "analysis/kernel/access_form.hpp"
#include "base/number/range.hpp"

namespace sluice::analysis {

// coarsened() is at most `most` spans that hold all of `spans`, which are joined: the narrowest
// gaps are closed.
std::vector<Range> coarsened(std::vector<Range> spans, size_t most);

// TouchesOfPlace is what the touches of one slot and kind touch around one place.
struct TouchesOfPlace {
  uint32_t touch = 0;        // the first of them; reasons name it
  std::vector<Range> bytes;  // joined, counted from the place
};

// TouchPlace is touches in one basic block whose offsets differ by constants, through any slots:
// where one of them happens, all do.
struct TouchPlace {
  std::vector<llvm::CallInst*> calls;  // of sluice.touch; the bytes count from the first's offset
  std::vector<TouchesOfPlace> touches;
};

// touch_places() finds the places of all of `calls`, which are in the order of their function.
std::vector<TouchPlace> touch_places(const std::vector<llvm::CallInst*>& calls,
                                     const AccessForm& form, llvm::ScalarEvolution& evolution);

// touch_number() is the index into AccessForm::touches of a call of sluice.touch.
uint32_t touch_number(const llvm::CallInst& call);

}  // namespace sluice::analysis
