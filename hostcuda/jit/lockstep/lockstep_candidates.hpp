// Which loops are worth running side by side.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include "hostcuda/jit/lockstep/lane_strides.hpp"

namespace sluice::hostcuda::jit {

// is_plain() is whether threads may run the instruction in any order among each other and LLVM can
// run it for several at once, is_near() whether neighbouring threads access neighbouring memory by
// a load, a store or an atomic update, or load the same.
bool is_plain(const llvm::Instruction& instruction);
bool is_near(llvm::Instruction& instruction, LaneStrides& strides);

// mark_near_accesses() marks the accesses by which neighbouring threads get at neighbouring memory
// or read the same. Call it before any loop is changed: one whose threads go round together hides
// from later ones how far their counters lie apart.
void mark_near_accesses(llvm::Function& function);

// is_lockstep_candidate() tells the loops that gain where the threads of a block go round together:
// they hold nothing that LLVM could not run for several threads at once, and all their accesses are
// marked, or there are none and floats are computed from round to round. Costs are guessed: right
// or wrong, the code computes the same.
bool is_lockstep_candidate(const llvm::Loop& loop);

}  // namespace sluice::hostcuda::jit
