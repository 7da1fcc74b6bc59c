#include "hostcuda/jit/lockstep/atomics_apart.hpp"

#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/lockstep/lane_strides.hpp"
#include "hostcuda/jit/lockstep/lockstep_candidates.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Operations on floats for each atomic one. What lives on across the meetings is stored and loaded
// again, some ten values, and a vector's lane must cost less than that saves.
constexpr size_t least_arithmetic = 16;

bool is_arithmetic(const Instruction& instruction) {
  return instruction.getType()->isFloatingPointTy() &&
         (isa<BinaryOperator>(instruction) || isa<CallInst>(instruction));
}

// Surroundings are what runs as often as an atomic update: the blocks of its innermost loop that
// are in no loop further in.
struct Surroundings {
  std::vector<AtomicRMWInst*> updates;
  size_t arithmetic = 0;
  bool fits = true;
};

Surroundings look_at(Function& function, const LoopInfo& loops, const Loop* loop,
                     LaneStrides& strides) {
  Surroundings found;
  for (BasicBlock& block : function) {
    if (loops.getLoopFor(&block) != loop) continue;
    for (Instruction& instruction : block) {
      const auto* call = dyn_cast<CallInst>(&instruction);
      auto* update = dyn_cast<AtomicRMWInst>(&instruction);
      found.arithmetic += is_arithmetic(instruction);
      if (update && update->use_empty() && !update->isVolatile()) {
        found.updates.push_back(update);
        found.fits &= is_near(instruction, strides);
      } else if (getLoadStorePointerOperand(&instruction)) {
        found.fits &= is_plain(instruction) && is_near(instruction, strides);
      } else {
        found.fits &= (call && is_sync_point(*call)) || is_plain(instruction);
      }
    }
  }
  return found;
}

}  // namespace

bool set_atomics_apart(Function& function) {
  const DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  LaneStrides strides(function);
  std::vector<const Loop*> all = {nullptr};
  for (const Loop* loop : loops.getLoopsInPreorder())
    all.push_back(loop);
  bool changed = false;
  for (const Loop* loop : all) {
    const Surroundings found = look_at(function, loops, loop, strides);
    if (!found.fits || found.arithmetic < least_arithmetic * found.updates.size()) continue;
    for (AtomicRMWInst* update : found.updates) {
      IRBuilder<> ir(update);
      call_lockstep(ir);
      ir.SetInsertPoint(update->getNextNode());
      call_lockstep(ir);
      changed = true;
    }
  }
  return changed;
}

}  // namespace sluice::hostcuda::jit
