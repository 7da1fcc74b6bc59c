#include "hostcuda/jit/waits/waiting_loops.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>

#include "hostcuda/jit/lowering/sync_points.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"
#include "hostcuda/jit/waits/loop_end.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool has_meeting(const BasicBlock& block) {
  return any_of(block, [](const Instruction& instruction) {
    auto* call = dyn_cast<CallInst>(&instruction);
    return call && is_sync_point(*call) && !is_wait(*call);
  });
}

// IdleRounds are the ways through a loop on which nothing changes that its end depends on, but for
// what others write.
class IdleRounds {
 public:
  IdleRounds(const Loop& loop, const LoopEnd& end) : loop_(loop), end_(end) {
    SmallVector<BasicBlock*> latches;
    loop.getLoopLatches(latches);
    for (PHINode* phi : end.carried())
      for (BasicBlock* latch : latches)
        follow(*phi, *latch);
    while (!choices_.empty()) {
      PHINode* phi = choices_.pop_back_val();
      for (BasicBlock* from : phi->blocks())
        follow(*phi, *from);
    }
  }

  // latches() are the blocks that such a way goes back from, meeting nobody where `alone` says so.
  std::vector<BasicBlock*> latches(bool alone) const {
    std::vector<BasicBlock*> found;
    SmallPtrSet<const BasicBlock*, 32> seen;
    SmallVector<BasicBlock*> pending{loop_.getHeader()};
    while (!pending.empty()) {
      BasicBlock* block = pending.pop_back_val();
      if (!seen.insert(block).second || end_.is_turn(*block)) continue;
      if (alone && has_meeting(*block)) continue;
      bool goes_back = false;
      for (BasicBlock* next : successors(block)) {
        if (!loop_.contains(next) || moving_.contains({block, next})) continue;
        goes_back |= next == loop_.getHeader();
        pending.push_back(next);
      }
      if (goes_back) found.push_back(block);
    }
    return found;
  }

 private:
  void follow(PHINode& phi, BasicBlock& from) {
    if (moves(phi.getIncomingValueForBlock(&from))) moving_.insert({&from, phi.getParent()});
  }

  // Whether the value is another one in each round, and so gets somewhere, which yes and no do not.
  // What a phi chooses is told by the way taken.
  bool moves(Value* value) {
    auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction || !loop_.contains(instruction)) return false;
    if (instruction->getType()->isIntegerTy(1)) return false;
    if (auto* phi = dyn_cast<PHINode>(instruction)) {
      if (phi->getParent() != loop_.getHeader() && known_.insert(phi).second) {
        choices_.push_back(phi);
      }
      return false;
    }
    if (auto* choice = dyn_cast<SelectInst>(instruction)) {
      const bool first = moves(choice->getTrueValue());
      return moves(choice->getFalseValue()) && first;
    }
    if (isa<CastInst, FreezeInst>(instruction)) return moves(instruction->getOperand(0));
    if (isa<BinaryOperator>(instruction)) {
      for (unsigned side = 0; side < 2; ++side) {
        if (may_be_nothing(*instruction->getOperand(side))) {
          return moves(instruction->getOperand(1 - side));
        }
      }
      if (instruction->isBitwiseLogicOp()) {  // of flags a flag; a ring's mask leaves its counter
        const bool first = moves(instruction->getOperand(0));
        return moves(instruction->getOperand(1)) || first;
      }
    }
    return depends_on_round(*instruction);
  }

  // Whether a value may be none at all in a round that gets nowhere: it is made of what others
  // write, or another constant than 0 only where a branch was taken.
  bool may_be_nothing(Value& value) const {
    auto* phi = dyn_cast<PHINode>(&value);
    if (phi && is_carried(*phi)) return false;
    if (phi && any_of(phi->incoming_values(), is_zero)) return true;
    SmallPtrSet<const Value*, 32> seen;
    SmallVector<Value*> pending{&value};
    while (!pending.empty()) {
      auto* next = dyn_cast<Instruction>(pending.pop_back_val());
      if (!next || !loop_.contains(next) || !seen.insert(next).second) continue;
      if (end_.reads().contains(next)) return true;
      if (auto* handed_on = dyn_cast<PHINode>(next); handed_on && is_carried(*handed_on)) continue;
      pending.append(next->op_begin(), next->op_end());
    }
    return false;
  }

  // Whether what the round before handed on goes into it, and nothing that it waits for.
  bool depends_on_round(Instruction& instruction) const {
    bool found = false;
    SmallPtrSet<const Instruction*, 32> seen;
    SmallVector<Instruction*> pending{&instruction};
    while (!pending.empty()) {
      Instruction* next = pending.pop_back_val();
      if (!loop_.contains(next) || !seen.insert(next).second) continue;
      if (auto* phi = dyn_cast<PHINode>(next); phi && is_carried(*phi)) {
        found = true;
        continue;
      }
      auto* load = dyn_cast<LoadInst>(next);
      if (load && end_.reads().contains(load) && end_.is_fixed(load->getPointerOperand())) {
        return false;
      }
      for (Value* operand : next->operands()) {
        if (auto* before = dyn_cast<Instruction>(operand)) pending.push_back(before);
      }
    }
    return found;
  }

  static bool is_zero(const Value* value) {
    auto* constant = dyn_cast<Constant>(value);
    return constant && constant->isNullValue();
  }
  bool is_carried(PHINode& phi) const { return end_.carried().contains(&phi); }

  const Loop& loop_;
  const LoopEnd& end_;
  SmallVector<PHINode*> choices_;
  SmallPtrSet<PHINode*, 16> known_;
  DenseSet<std::pair<BasicBlock*, BasicBlock*>> moving_;  // edges
};

bool derives_from(const Value* value, const Argument* argument) {
  SmallPtrSet<const Value*, 32> seen;
  SmallVector<const Value*> pending{value};
  while (!pending.empty()) {
    const Value* next = pending.pop_back_val();
    if (next == argument) return true;
    auto* instruction = dyn_cast<Instruction>(next);
    if (!instruction || isa<LoadInst>(instruction) || !seen.insert(next).second) continue;
    pending.append(instruction->op_begin(), instruction->op_end());
  }
  return false;
}

const Value* address_of(const Instruction& read) {
  if (const Value* pointer = getLoadStorePointerOperand(&read)) return pointer;
  return read.getOperand(0);  // of an atomic update
}

bool may_have_waits(Function& function) {
  return any_of(instructions(function), [](const Instruction& instruction) {
    return instruction.isAtomic() || instruction.isVolatile() || isa<FenceInst>(instruction);
  });
}

}  // namespace

std::vector<WaitingLoop> find_waiting_loops(Function& function, const LoopInfo& loops,
                                            PostDominatorTree& post_dominators) {
  std::vector<WaitingLoop> found;
  if (!may_have_waits(function)) return found;
  for (Loop* loop : const_cast<LoopInfo&>(loops).getLoopsInPreorder()) {
    const LoopEnd end(*loop, post_dominators);
    if (end.reads().empty()) continue;
    const IdleRounds idle(*loop, end);
    WaitingLoop waiting{loop, end.reads().front(), idle.latches(false)};
    if (waiting.latches.empty()) continue;
    waiting.meets = idle.latches(true).empty();
    const auto all_in = [&](unsigned argument) {
      return all_of(end.reads(), [&](const Instruction* read) {
        return derives_from(address_of(*read), function.getArg(argument));
      });
    };
    waiting.is_shared = all_in(ThreadFunction::shared);
    waiting.is_grid = all_in(ThreadFunction::grid_workspace);
    found.push_back(std::move(waiting));
  }
  return found;
}

}  // namespace sluice::hostcuda::jit
