#include "hostcuda/jit/regions/lifted_points.hpp"

#include <optional>
#include <vector>

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "hostcuda/jit/lowering/sync_points.hpp"
#include "hostcuda/jit/regions/early_values.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

using Blocks = SmallPtrSet<BasicBlock*, 16>;

bool is_liftable(SyncOperation operation) {
  switch (operation) {
    case SyncOperation::warp_barrier:
    case SyncOperation::meeting:
    case SyncOperation::shuffle_up:
    case SyncOperation::shuffle_down:
    case SyncOperation::shuffle_butterfly:
    case SyncOperation::shuffle_index:
    case SyncOperation::vote_all:
    case SyncOperation::vote_any:
    case SyncOperation::vote_ballot:
      return true;
    default:
      return false;
  }
}

// reached() is what can be reached from `first` without passing `end`.
Blocks reached(BasicBlock* first, const BasicBlock* end) {
  Blocks seen;
  if (first == end) return seen;
  std::vector<BasicBlock*> pending = {first};
  seen.insert(first);
  while (!pending.empty()) {
    BasicBlock* block = pending.back();
    pending.pop_back();
    for (BasicBlock* next : successors(block)) {
      if (next != end && seen.insert(next).second) pending.push_back(next);
    }
  }
  return seen;
}

bool holds_point(const Blocks& blocks) {
  for (BasicBlock* block : blocks) {
    for (Instruction& instruction : *block) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call && is_sync_point(*call)) return true;
    }
  }
  return false;
}

// Place is where an operation stands: under one edge of `branch`, whose paths meet in `meeting`.
struct Place {
  CallInst* call = nullptr;
  BranchInst* branch = nullptr;
  unsigned edge = 0;  // of the branch, towards the call
  BasicBlock* meeting = nullptr;
  Blocks taken;  // blocks of the path that holds the call
  Blocks other;
};

class Finder {
 public:
  explicit Finder(Function& function)
      : function_(function), dominators_(function), post_dominators_(function) {}

  std::optional<Place> find() {
    for (BasicBlock& block : function_) {
      if (!dominators_.isReachableFromEntry(&block)) continue;
      for (Instruction& instruction : block) {
        auto* call = dyn_cast<CallInst>(&instruction);
        if (!call) continue;
        const std::optional<SyncOperation> operation = sync_operation(*call);
        if (!operation || !is_liftable(*operation)) continue;
        if (std::optional<Place> place = place_of(*call)) return place;
      }
    }
    return std::nullopt;
  }

 private:
  // The nearest branch that decides whether a thread comes to the call.
  BasicBlock* deciding(BasicBlock* block) const {
    for (DomTreeNode* node = dominators_.getNode(block)->getIDom(); node; node = node->getIDom()) {
      if (!post_dominators_.dominates(block, node->getBlock())) return node->getBlock();
    }
    return nullptr;
  }

  std::optional<Place> place_of(CallInst& call) const {
    BasicBlock* block = call.getParent();
    BasicBlock* decides = deciding(block);
    auto* branch = decides ? dyn_cast<BranchInst>(decides->getTerminator()) : nullptr;
    if (!branch || !branch->isConditional()) return std::nullopt;
    const auto* node = post_dominators_.getNode(decides);
    if (!node || !node->getIDom() || !node->getIDom()->getBlock()) return std::nullopt;
    Place place{&call, branch, 0, node->getIDom()->getBlock(), {}, {}};
    const auto holds = [&](unsigned edge) {
      BasicBlock* to = branch->getSuccessor(edge);
      return to != place.meeting && to->getSinglePredecessor() == decides &&
             dominators_.dominates(to, block) && post_dominators_.dominates(block, to);
    };
    if (!holds(0)) place.edge = 1;
    if (!holds(place.edge)) return std::nullopt;
    place.taken = reached(branch->getSuccessor(place.edge), place.meeting);
    place.other = reached(branch->getSuccessor(1 - place.edge), place.meeting);
    return is_once(place) && !holds_point(place.other) ? std::optional(place) : std::nullopt;
  }

  // Both paths lie between the branch and the meeting, and the call is in no loop there.
  bool is_once(const Place& place) const {
    BasicBlock* decides = place.branch->getParent();
    if (place.taken.contains(decides) || place.other.contains(decides)) return false;
    for (BasicBlock* block : place.taken) {
      if (place.other.contains(block) || succ_empty(block)) return false;
    }
    for (BasicBlock* block : place.other) {
      if (succ_empty(block) || !dominators_.dominates(decides, block)) return false;
    }
    for (BasicBlock* next : successors(place.call->getParent())) {
      if (reached(next, place.meeting).contains(place.call->getParent())) return false;
    }
    return true;
  }

  Function& function_;
  DominatorTree dominators_;
  PostDominatorTree post_dominators_;
};

// What a thread brings that would not have come.
Constant* nothing(SyncOperation operation, Type* type) {
  return operation == SyncOperation::vote_all && type->isIntegerTy(1)
             ? ConstantInt::getTrue(type)
             : Constant::getNullValue(type);
}

// Computes indices before the first branch: kept in memory on the way to it, they would be zero for
// threads that do not come by, and no longer known to be side by side in neighbouring threads.
void compute_indices_first(Function& function) {
  const DominatorTree dominators(function);
  Instruction* place = function.getEntryBlock().getTerminator();
  for (BasicBlock* block : ReversePostOrderTraversal<Function*>(&function)) {
    if (block == place->getParent()) continue;
    for (Instruction& instruction : make_early_inc_range(*block)) {
      const bool is_index = instruction.getType()->isIntOrPtrTy();
      if (is_index && can_be_computed_at(instruction, *place, dominators))
        instruction.moveBefore(place);
    }
  }
}

// Lifter moves one operation, with all values that pass the moved edges in memory meanwhile.
class Lifter {
 public:
  explicit Lifter(Function& function) : function_(function) {}

  void lift(const Place& place) {
    const SyncOperation operation = *sync_operation(*place.call);
    bring(place, operation);
    put_in_memory(place);
    move(place);
    DominatorTree dominators(function_);
    PromoteMemToReg(slots_, dominators);
  }

 private:
  AllocaInst* slot(Type* type) {
    BasicBlock& entry = function_.getEntryBlock();
    slots_.push_back(new AllocaInst(type, 0, "lifted", entry.begin()));
    return slots_.back();
  }

  // The call's operands, where a thread that does not come brings nothing.
  void bring(const Place& place, SyncOperation operation) {
    for (Use& use : place.call->args()) {
      if (isa<Constant>(use)) continue;
      AllocaInst* kept = slot(use->getType());
      IRBuilder<> before(place.branch);
      before.CreateStore(nothing(operation, use->getType()), kept);
      IRBuilder<> ir(place.call);
      ir.CreateStore(use, kept);
      use.set(ir.CreateLoad(kept->getAllocatedType(), kept));
      moved_.push_back(cast<Instruction>(use.get()));
    }
  }

  void put_in_memory(const Place& place) {
    std::vector<Instruction*> crossing = crossing_values(place);
    for (PHINode& phi : place.meeting->phis())
      crossing.push_back(&phi);
    for (Instruction* instruction : crossing) {
      if (auto* phi = dyn_cast<PHINode>(instruction))
        slots_.push_back(DemotePHIToStack(phi, function_.getEntryBlock().begin()));
    }
    // A phi becomes a load, which may cross blocks itself.
    for (Instruction* instruction : crossing_values(place)) {
      slots_.push_back(DemoteRegToStack(*instruction, false, function_.getEntryBlock().begin()));
    }
    std::erase(slots_, nullptr);  // of what nobody uses
  }

  static std::vector<Instruction*> crossing_values(const Place& place) {
    std::vector<Instruction*> crossing;
    for (const Blocks* blocks : {&place.taken, &place.other}) {
      for (BasicBlock* block : *blocks) {
        for (Instruction& instruction : *block) {
          if (crosses(instruction, *place.call)) crossing.push_back(&instruction);
        }
      }
    }
    return crossing;
  }

  // Whether the value is used behind the call, or in another block than its own.
  static bool crosses(const Instruction& instruction, const CallInst& call) {
    if (instruction.getType()->isVoidTy()) return false;
    const BasicBlock* block = instruction.getParent();
    const bool is_before =
        block == call.getParent() && (&instruction == &call || instruction.comesBefore(&call));
    for (const User* user : instruction.users()) {
      const auto* other = cast<Instruction>(user);
      if (other->getParent() != block || isa<PHINode>(other)) return true;
      if (is_before && other != &call && call.comesBefore(other)) return true;
    }
    return false;
  }

  void move(const Place& place) {
    BasicBlock* point =
        place.call->getParent()->splitBasicBlock(place.call->getIterator(), "lifted");
    // The result's store into memory stays with the call; the loads of operands stand before both.
    Instruction* last = place.call;
    while (auto* store = dyn_cast<StoreInst>(last->getNextNode())) {
      if (store->getValueOperand() != place.call) break;
      last = store;
    }
    BasicBlock* after = point->splitBasicBlock(std::next(last->getIterator()), "lifted.after");
    for (Instruction* load : moved_)
      load->moveBefore(place.call);
    // The other path, or the edge past the call, now leads here.
    if (place.other.empty()) {
      place.branch->setSuccessor(1 - place.edge, point);
    } else {
      for (BasicBlock* block : place.other)
        block->getTerminator()->replaceSuccessorWith(place.meeting, point);
    }
    point->getTerminator()->eraseFromParent();
    BasicBlock* ways[2] = {after, place.meeting};
    IRBuilder<> ir(point);
    ir.CreateCondBr(place.branch->getCondition(), ways[place.edge], ways[1 - place.edge]);
  }

  Function& function_;
  std::vector<AllocaInst*> slots_;
  std::vector<Instruction*> moved_;
};

}  // namespace

bool lift_points(Function& function) {
  bool any = false;
  while (std::optional<Place> place = Finder(function).find()) {
    if (!any) compute_indices_first(function);
    Lifter(function).lift(*place);
    any = true;
  }
  return any;
}

}  // namespace sluice::hostcuda::jit
