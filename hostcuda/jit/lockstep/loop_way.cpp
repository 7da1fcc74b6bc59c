#include "hostcuda/jit/lockstep/loop_way.hpp"

#include <llvm/IR/CFG.h>

namespace sluice::hostcuda::jit {

using namespace llvm;

bool WayFinder::only_ends(BasicBlock* start) const {
  SetVector<BasicBlock*> seen;
  seen.insert(start);
  for (size_t i = 0; i < seen.size(); ++i) {
    for (const Instruction& instruction : *seen[i]) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call && is_sync_point(*call)) return false;
    }
    for (BasicBlock* next : successors(seen[i]))
      seen.insert(next);
  }
  return seen.size() < 64 &&
         none_of(seen, [&](BasicBlock* block) { return loops_.getLoopFor(block); });
}

// The divergent branches that decide who comes to the loop, and what lies between.
bool WayFinder::find(const Loop& loop, Ends ends, Way& way) const {
  BasicBlock* before = loop.getLoopPreheader();
  SetVector<BasicBlock*> deciders;
  std::vector<BasicBlock*> pending = {before};
  SetVector<BasicBlock*> seen;
  while (!pending.empty()) {
    BasicBlock* block = pending.back();
    pending.pop_back();
    if (!seen.insert(block)) continue;
    for (BasicBlock& decider : function_) {
      if (decider.getTerminator()->getNumSuccessors() < 2 || &decider == loop.getLoopLatch())
        continue;
      const bool decides =
          any_of(successors(&decider),
                 [&](BasicBlock* next) { return post_dominators_.dominates(block, next); }) &&
          !post_dominators_.properlyDominates(block, &decider);
      if (!decides) continue;
      pending.push_back(&decider);
      if (uniformity_.has_uniform_branch(decider)) continue;
      const bool others_end = all_of(successors(&decider), [&](BasicBlock* next) {
        return post_dominators_.dominates(block, next) || leaves(next, ends);
      });
      if (!others_end) deciders.insert(&decider);
    }
  }
  if (deciders.empty()) return true;
  way.top = before;
  for (BasicBlock* decider : deciders)
    way.top = dominators_.findNearestCommonDominator(way.top, decider);
  return way.top && collect(loop, ends, way);
}

bool WayFinder::collect(const Loop& loop, Ends ends, Way& way) const {
  const Loop* around = loop.getParentLoop();
  way.blocks.insert(loop.getLoopPreheader());
  for (size_t i = 0; i < way.blocks.size(); ++i) {
    BasicBlock* block = way.blocks[i];
    if (loops_.getLoopFor(block) != around || way.blocks.size() > 64) return false;
    if (block == way.top) continue;
    for (BasicBlock* from : predecessors(block))
      way.blocks.insert(from);
  }
  if (!way.blocks.contains(way.top)) return false;
  for (BasicBlock* block : way.blocks) {
    for (const Instruction& instruction : *block) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call && is_sync_point(*call) && block != way.top) return false;
    }
    for (BasicBlock* next : successors(block)) {
      if (way.blocks.contains(next) && next != way.top) continue;
      if (next == loop.getHeader() || leaves(next, ends)) continue;
      way.edges.push_back({block, next});
    }
  }
  return true;
}

}  // namespace sluice::hostcuda::jit
