#include "hostcuda/jit/convergence/meeting_places.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>

#include "hostcuda/jit/lowering/sync_points.hpp"

namespace sluice::hostcuda::jit {

using namespace llvm;

MeetingPlaces::MeetingPlaces(Function& function, const Dim3& block)
    : function_(function),
      dominators_(function),
      post_dominators_(function),
      loops_(dominators_),
      accesses_(function, block, dominators_, loops_),
      conflicts_(function, block, accesses_) {}

const std::set<Instruction*>& MeetingPlaces::find() {
  rivals_ = accesses_.rivals();
  for (unsigned i = 0; i < rivals_.size(); ++i) {
    for (unsigned rival : rivals_[i]) {
      numbers_[accesses_.all()[i].instruction] = i;
      numbers_[accesses_.all()[rival].instruction] = rival;
    }
  }
  if (numbers_.empty()) return places_;
  find_branches();
  // Each meeting changes what is pending elsewhere, and each is kept.
  bool changed = true;
  while (changed) {
    const size_t before = places_.size();
    follow();
    changed = places_.size() != before;
  }
  return places_;
}

void MeetingPlaces::find_branches() {
  for (BasicBlock& block : function_) {
    if (block.getTerminator()->getNumSuccessors() < 2 || !accesses_.diverges(block)) continue;
    const auto* node = post_dominators_.getNode(&block);
    if (!node || !node->getIDom() || !node->getIDom()->getBlock()) continue;
    Branch branch{node->getIDom()->getBlock(), {}};
    std::set<BasicBlock*> seen = {branch.join};
    std::vector<BasicBlock*> pending(succ_begin(&block), succ_end(&block));
    while (!pending.empty()) {
      BasicBlock* next = pending.back();
      pending.pop_back();
      if (!seen.insert(next).second) continue;
      branch.between.push_back(next);
      pending.insert(pending.end(), succ_begin(next), succ_end(next));
    }
    branches_.push_back(std::move(branch));
  }
}

bool MeetingPlaces::add_all(Pending& to, const Pending& from, uint64_t rounds) {
  bool changed = false;
  for (const auto& [access, before] : from) {
    const auto [known, is_new] = to.try_emplace(access, before | rounds);
    changed |= is_new || (known->second | before | rounds) != known->second;
    known->second |= before | rounds;
  }
  return changed;
}

bool MeetingPlaces::is_meeting(const Instruction& instruction) const {
  if (places_.count(const_cast<Instruction*>(&instruction)) != 0) return true;
  auto* call = dyn_cast<CallInst>(&instruction);
  return call && is_sync_point(*call) && !is_wait(*call) && !is_yield(*call);
}

void MeetingPlaces::follow() {
  std::map<BasicBlock*, Pending> at_start;
  for (const Branch& branch : branches_)
    add_all(at_start[branch.join], left_between(branch));
  const ReversePostOrderTraversal<Function*> order(&function_);
  // What has gone on before a meeting was found must not go on from there.
  const size_t known = places_.size();
  bool changed = true;
  while (changed && places_.size() == known) {
    changed = false;
    for (BasicBlock* block : order) {
      const Pending end = follow_block(*block, at_start[block]);
      for (BasicBlock* next : successors(block))
        changed |= add_all(at_start[next], end, rounds_begun(*block, *next));
    }
  }
}

MeetingPlaces::Pending MeetingPlaces::follow_block(BasicBlock& block, Pending pending) {
  for (Instruction& instruction : block) {
    if (is_meeting(instruction)) pending.clear();
    const auto found = numbers_.find(&instruction);
    if (found == numbers_.end()) continue;
    if (const auto rivals = conflicting(found->second, pending); !rivals.empty()) {
      places_.insert(place_for(instruction, rivals));
      pending.clear();
    }
    pending[found->second] = 0;
  }
  return pending;
}

// Lanes that meet between a branch and its join do so without those that have gone another way.
MeetingPlaces::Pending MeetingPlaces::left_between(const Branch& branch) const {
  Pending left;
  if (!meets_in(branch)) return left;
  const uint64_t around = accesses_.loops_around(*branch.join);
  for (BasicBlock* block : branch.between) {
    for (const Instruction& instruction : *block) {
      const auto found = numbers_.find(&instruction);
      if (found == numbers_.end()) continue;
      left[found->second] = accesses_.loops_around(*block) & ~around;
    }
  }
  return left;
}

bool MeetingPlaces::meets_in(const Branch& branch) const {
  return any_of(branch.between, [&](const BasicBlock* block) {
    return any_of(*block, [&](const Instruction& at) { return is_meeting(at); });
  });
}

uint64_t MeetingPlaces::rounds_begun(const BasicBlock& from, const BasicBlock& to) const {
  const Loop* loop = loops_.getLoopFor(&to);
  if (!loop || loop->getHeader() != &to || !loop->contains(&from)) return 0;
  return accesses_.number_of_loop(*loop);
}

std::vector<const Instruction*> MeetingPlaces::conflicting(unsigned access,
                                                           const Pending& pending) {
  std::vector<const Instruction*> found;
  for (unsigned rival : rivals_[access]) {
    const auto before = pending.find(rival);
    if (before == pending.end() || !conflicts_.conflict(rival, access, before->second)) continue;
    found.push_back(accesses_.all()[rival].instruction);
  }
  return found;
}

Instruction* MeetingPlaces::place_for(Instruction& access,
                                      ArrayRef<const Instruction*> rivals) const {
  Instruction* wait = own_wait(access);
  return wait && places_.count(wait) == 0 ? wait : place_before_branches(access, rivals);
}

// An instruction that waits for its lanes by itself begins with that.
Instruction* MeetingPlaces::own_wait(Instruction& access) {
  for (Instruction* at = &access; at;) {
    auto* call = dyn_cast<CallInst>(at);
    if (call && is_wait(*call)) return call;
    const bool is_of_another_kind = isa<StoreInst>(at) != isa<StoreInst>(access);
    if (is_of_another_kind && at->mayReadOrWriteMemory()) return nullptr;
    BasicBlock* block = at->getParent();
    if (at != &block->front()) {
      at = at->getPrevNode();
    } else {
      block = block->getSinglePredecessor();
      at = block ? block->getTerminator() : nullptr;
    }
  }
  return nullptr;
}

// Lanes better meet before they part, if what they wait for has been accessed by then: where all
// threads of the block come by, they need no states of their own.
Instruction* MeetingPlaces::place_before_branches(Instruction& access,
                                                  ArrayRef<const Instruction*> rivals) const {
  BasicBlock* from = access.getParent();
  const Loop* loop = loops_.getLoopFor(from);
  Instruction* place = &access;
  std::set<const BasicBlock*> seen;
  std::vector<BasicBlock*> pending = {from};
  for (auto* node = dominators_.getNode(from)->getIDom(); node; node = node->getIDom()) {
    BasicBlock* branch = node->getBlock();
    if (loops_.getLoopFor(branch) != loop) break;
    // All blocks from the branch on.
    while (!pending.empty()) {
      BasicBlock* block = pending.back();
      pending.pop_back();
      if (block == branch || !seen.insert(block).second) continue;
      pending.insert(pending.end(), pred_begin(block), pred_end(block));
    }
    pending.assign(pred_begin(branch), pred_end(branch));
    const bool is_late = any_of(rivals, [&](const Instruction* rival) {
      return rival->getParent() == from ? rival->comesBefore(&access)
                                        : seen.count(rival->getParent()) != 0;
    });
    if (is_late) break;
    const bool parts = accesses_.splits_block(*branch) && !post_dominators_.dominates(from, branch);
    if (parts) place = branch->getTerminator();
    seen.insert(branch);
  }
  return place;
}

std::set<BasicBlock*> MeetingPlaces::joins() const {
  std::set<BasicBlock*> joins;
  for (const Branch& branch : branches_) {
    const bool own = any_of(branch.between, [&](BasicBlock* block) {
      return any_of(*block, [&](Instruction& at) { return places_.count(&at) != 0; });
    });
    if (own && loops_.getLoopFor(branch.join)) joins.insert(branch.join);
  }
  return joins;
}

}  // namespace sluice::hostcuda::jit
