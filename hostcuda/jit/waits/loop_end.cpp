#include "hostcuda/jit/waits/loop_end.hpp"

#include <llvm/Analysis/IteratedDominanceFrontier.h>
#include <llvm/Analysis/ValueTracking.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool has_fence(const Loop& loop) {
  return any_of(loop.blocks(), [](const BasicBlock* block) {
    return any_of(*block, [](const Instruction& it) { return isa<FenceInst>(it); });
  });
}

bool is_own_memory(const Value* pointer) {
  return isa<AllocaInst>(getUnderlyingObject(pointer, 0));
}

// Whether a compare-and-swap expects what it, or a load of the same word, has just seen: it fails
// because another thread's has not.
bool expects_what_it_saw(AtomicCmpXchgInst& exchange) {
  SmallVector<Value*> pending{exchange.getCompareOperand()};
  SmallPtrSet<Value*, 16> seen;
  while (!pending.empty()) {
    Value* value = pending.pop_back_val();
    if (value == &exchange) return true;
    auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction || !seen.insert(value).second || seen.size() > 64) continue;
    auto* load = dyn_cast<LoadInst>(instruction);
    if (load && load->getPointerOperand() == exchange.getPointerOperand()) return true;
    if (isa<PHINode, ExtractValueInst, CastInst, SelectInst>(instruction)) {
      pending.append(instruction->op_begin(), instruction->op_end());
    }
  }
  return false;
}

// Whether an update leaves the word as it is, or as the last one left it.
bool may_repeat_itself(const AtomicRMWInst& update) {
  switch (update.getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::FAdd:
    case AtomicRMWInst::FSub: {
      auto* constant = dyn_cast<Constant>(update.getValOperand());
      return constant && constant->isZeroValue();
    }
    case AtomicRMWInst::UIncWrap:
    case AtomicRMWInst::UDecWrap:
      return false;
    default:
      return true;
  }
}

}  // namespace

LoopEnd::LoopEnd(const Loop& loop, PostDominatorTree& post_dominators)
    : loop_(loop), post_dominators_(post_dominators), has_fence_(has_fence(loop)) {
  SmallVector<BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  for (BasicBlock* block : exiting) {
    add_condition(*block);
    add_branches_to(*block);
  }
  while (!pending_.empty()) {
    Instruction* instruction = pending_.pop_back_val();
    if (seen_.insert(instruction).second) visit(*instruction);
  }
}

void LoopEnd::visit(Instruction& instruction) {
  if (is_turn_taken(instruction)) {
    turns_.insert(instruction.getParent());
  } else if (is_read(instruction)) {
    reads_.insert(&instruction);
  }
  for (Value* operand : instruction.operands()) {
    auto* before = dyn_cast<Instruction>(operand);
    if (before && loop_.contains(before)) pending_.push_back(before);
  }
  auto* phi = dyn_cast<PHINode>(&instruction);
  if (!phi) return;
  if (phi->getParent() == loop_.getHeader()) carried_.insert(phi);
  for (BasicBlock* from : phi->blocks()) {
    if (loop_.contains(from)) add_branches_to(*from);
  }
}

void LoopEnd::add_condition(BasicBlock& block) {
  for (Value* operand : block.getTerminator()->operands()) {
    auto* condition = dyn_cast<Instruction>(operand);
    if (condition && loop_.contains(condition)) pending_.push_back(condition);
  }
}

// The conditions, in the loop, that decide whether control comes to `block`.
void LoopEnd::add_branches_to(BasicBlock& block) {
  if (!asked_.insert(&block).second) return;
  SmallPtrSet<BasicBlock*, 1> decided{&block};
  SmallVector<BasicBlock*> deciding;
  ReverseIDFCalculator frontier(post_dominators_);
  frontier.setDefiningBlocks(decided);
  frontier.calculate(deciding);
  for (BasicBlock* branch : deciding) {
    if (loop_.contains(branch)) add_condition(*branch);
  }
}

bool LoopEnd::is_fixed(const Value* value, unsigned depth) const {
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction || !loop_.contains(instruction)) return true;
  if (depth > 32 || isa<PHINode>(instruction) || instruction->mayReadFromMemory()) return false;
  return all_of(instruction->operands(),
                [&](const Use& operand) { return is_fixed(operand.get(), depth + 1); });
}

bool LoopEnd::is_read(const Instruction& instruction) const {
  if (auto* load = dyn_cast<LoadInst>(&instruction)) {
    const bool may_change = load->isVolatile() || load->isAtomic() ||
                            (has_fence_ && is_fixed(load->getPointerOperand()));
    return may_change && !is_own_memory(load->getPointerOperand());
  }
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    return !is_own_memory(update->getPointerOperand());
  }
  auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction);
  return exchange && !is_own_memory(exchange->getPointerOperand());
}

bool LoopEnd::is_turn_taken(Instruction& instruction) const {
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) return !may_repeat_itself(*update);
  auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction);
  return exchange && expects_what_it_saw(*exchange);
}

}  // namespace sluice::hostcuda::jit
