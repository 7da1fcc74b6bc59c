// Values that a thread keeps from one region to the next.
#pragma once

#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {

// Slot is storage for one such value: an alloca of the thread function, stored to after the
// value's definition and loaded from before each use elsewhere. Whoever emits the block function
// gives each thread its own, or one for all where the value is uniform.
struct Slot {
  llvm::AllocaInst* storage = nullptr;
  bool uniform = false;
};

struct LiveValues {
  std::vector<Slot> slots;
  // Indices of the slots that are read before they are written, by entry block.
  llvm::DenseMap<const llvm::BasicBlock*, std::vector<unsigned>> live_in;
};

// keep_live_values() moves every value that is live at one of `entries` (none of which has a phi)
// into a slot. Cheap integer expressions of arguments and uniform values are computed again where
// they are used: a loop over threads then still sees how an address varies.
LiveValues keep_live_values(llvm::Function& function, llvm::ArrayRef<llvm::BasicBlock*> entries,
                            const Uniformity& uniformity);

}  // namespace sluice::hostcuda::jit
