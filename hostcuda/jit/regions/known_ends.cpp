#include "hostcuda/jit/regions/known_ends.hpp"

#include <algorithm>
#include <utility>

#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// The blocks from which one of `to` can be reached without passing a cut.
DenseSet<const BasicBlock*> leading_to(std::vector<const BasicBlock*> to,
                                       const DenseSet<const BasicBlock*>& cuts) {
  DenseSet<const BasicBlock*> found(to.begin(), to.end());
  while (!to.empty()) {
    const BasicBlock* block = to.back();
    to.pop_back();
    for (const BasicBlock* before : predecessors(block)) {
      if (!cuts.contains(before) && found.insert(before).second) to.push_back(before);
    }
  }
  return found;
}

std::vector<const BasicBlock*> ends_of(const Function& function) {
  std::vector<const BasicBlock*> ends;
  for (const BasicBlock& block : function) {
    if (succ_empty(&block)) ends.push_back(&block);
  }
  return ends;
}

// Adds the blocks that `from` leads to, itself among them; not what lies behind a cut.
void add_region(const BasicBlock* from, const DenseSet<const BasicBlock*>& cuts,
                DenseSet<const BasicBlock*>& blocks) {
  std::vector<const BasicBlock*> pending = {from};
  while (!pending.empty()) {
    const BasicBlock* block = pending.back();
    pending.pop_back();
    if (!blocks.insert(block).second || cuts.contains(block)) continue;
    pending.insert(pending.end(), succ_begin(block), succ_end(block));
  }
}

}  // namespace

DenseSet<const BasicBlock*> entered_by_the_rest(const Function& function,
                                                const DenseSet<const BasicBlock*>& cuts) {
  const DenseSet<const BasicBlock*> ending = leading_to(ends_of(function), cuts);
  std::vector<const BasicBlock*> entries = {&function.getEntryBlock()};
  for (const BasicBlock* cut : cuts)
    entries.insert(entries.end(), succ_begin(cut), succ_end(cut));
  DenseSet<const BasicBlock*> found;
  for (const BasicBlock* entry : entries) {
    if (!ending.contains(entry)) continue;
    DenseSet<const BasicBlock*> region;
    add_region(entry, cuts, region);
    for (const BasicBlock* block : region) {
      if (!cuts.contains(block)) continue;
      for (const BasicBlock* after : successors(block))
        add_region(after, {}, found);
    }
  }
  return found;
}

KnownEnds::KnownEnds(const Function& function, const Dim3& block, const Cuts& cuts) {
  follow(function, block, cuts);
  if (may_end_unseen(function, cuts)) are_all_ = false;
  for (const auto& [entry, threads] : entering_) {
    const auto end = threads.begin() + first_gone(*entry);
    if (std::find(threads.begin(), end, false) != end) are_all_ = false;
  }
}

void KnownEnds::follow(const Function& function, const Dim3& block, const Cuts& cuts) {
  LaneValues values(function, block);
  const BasicBlock* first = &function.getEntryBlock();
  entering_[first] = Threads(values.threads(), true);
  Ways at_cut;
  std::vector<const BasicBlock*> regions = {first};
  while (!regions.empty()) {
    const BasicBlock* entry = regions.back();
    regions.pop_back();
    Ways inside;
    inside[entry] = entering_[entry];
    std::vector<const BasicBlock*> pending = {entry};
    while (!pending.empty()) {
      const BasicBlock* from = pending.back();
      pending.pop_back();
      const Threads threads = inside[from];
      if (!cuts.contains(from)) take_branch(*from, threads, values, inside, pending);
    }
    for (const auto& [cut, threads] : inside) {
      if (!cuts.contains(cut)) continue;
      // Whoever ends between two rounds of a loop is there in one and not in the other.
      const auto [known, is_new] = at_cut.try_emplace(cut, threads);
      if (!is_new && known->second != threads) are_all_ = false;
      // A cut that none gets to would still be gone on from.
      if (find(threads, true) == threads.end()) are_all_ = false;
      take_branch(*cut, threads, values, entering_, regions);
    }
  }
}

// Adds to `ways` the threads that go on from a block, and to `changed` where there are more then.
void KnownEnds::take_branch(const BasicBlock& from, const Threads& threads, LaneValues& values,
                            Ways& ways, std::vector<const BasicBlock*>& changed) {
  const Instruction& end = *from.getTerminator();
  auto* branch = dyn_cast<BranchInst>(&end);
  const LaneValues::Lanes* goes =
      branch && branch->isConditional() ? values.of(branch->getCondition()) : nullptr;
  if (!goes && end.getNumSuccessors() > 1) untold_.insert(&from);
  for (unsigned i = 0; i < end.getNumSuccessors(); ++i) {
    const BasicBlock* next = end.getSuccessor(i);
    Threads& there = ways.try_emplace(next, threads.size(), false).first->second;
    bool grows = false;
    for (size_t thread = 0; thread < threads.size(); ++thread) {
      const bool takes = threads[thread] && (!goes || ((*goes)[thread] != 0) == (i == 0));
      grows |= takes && !there[thread];
      there[thread] = there[thread] || takes;
    }
    if (grows) changed.push_back(next);
  }
}

// Whether something that is not known decides who ends and who goes on to a cut.
bool KnownEnds::may_end_unseen(const Function& function, const Cuts& cuts) const {
  const Cuts ending = leading_to(ends_of(function), cuts);
  const Cuts staying = leading_to({cuts.begin(), cuts.end()}, cuts);
  return any_of(untold_, [&](const BasicBlock* block) {
    return !cuts.contains(block) &&
           any_of(successors(block), [&](auto* next) { return ending.contains(next); }) &&
           any_of(successors(block), [&](auto* next) { return staying.contains(next); });
  });
}

uint32_t KnownEnds::first_gone(const BasicBlock& entry) const {
  const auto found = entering_.find(&entry);
  if (found == entering_.end()) return 0;  // no thread gets there
  const Threads& threads = found->second;
  const auto last = std::find(threads.rbegin(), threads.rend(), true);
  return static_cast<uint32_t>(threads.rend() - last);
}

}  // namespace sluice::hostcuda::jit
