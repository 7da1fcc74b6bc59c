#include "analysis/kernel/grid_communication.hpp"

#include <fmt/format.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/IteratedDominanceFrontier.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "ptx/lift.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

bool is_visible_to_other_blocks(const Value* pointer) {
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  return space == 0 || space == 1;
}

// retries_with_what_it_saw() is true of `old = cas(p, expected = the last old, ...)`.
bool retries_with_what_it_saw(AtomicCmpXchgInst& exchange) {
  SmallVector<Value*> pending{exchange.getCompareOperand()};
  SmallPtrSet<Value*, 16> seen;
  while (!pending.empty()) {
    Value* value = pending.pop_back_val();
    if (value == &exchange) return true;
    auto* user = dyn_cast<Instruction>(value);
    if (user == nullptr || !seen.insert(value).second || seen.size() > 64) continue;
    if (isa<PHINode>(user) || isa<ExtractValueInst>(user) || isa<CastInst>(user) ||
        isa<SelectInst>(user)) {
      pending.append(user->op_begin(), user->op_end());
    }
  }
  return false;
}

// is_fixed_in() is true of a value that every iteration computes alike.
bool is_fixed_in(const Loop& loop, Value* value, unsigned depth = 0) {
  auto* instruction = dyn_cast<Instruction>(value);
  if (instruction == nullptr || !loop.contains(instruction)) return true;
  if (depth > 32 || isa<PHINode>(instruction) || instruction->mayReadFromMemory()) return false;
  return all_of(instruction->operands(),
                [&](Value* operand) { return is_fixed_in(loop, operand, depth + 1); });
}

// has_fence() is true of a loop that orders its memory against other blocks.
bool has_fence(const Loop& loop) {
  for (BasicBlock* block : loop.blocks()) {
    for (Instruction& instruction : *block) {
      if (isa<FenceInst>(instruction)) return true;
      auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
      if (intrinsic == nullptr) continue;
      const StringRef name = intrinsic->getCalledFunction()->getName();
      if (name.starts_with("llvm.nvvm.membar") || name.starts_with("llvm.nvvm.fence")) return true;
    }
  }
  return false;
}

// waits_on() says whether an exit of `loop` that depends on `instruction` waits for other blocks.
bool waits_on(Instruction& instruction, const Loop& loop) {
  if (auto* load = dyn_cast<LoadInst>(&instruction)) {
    if (!is_visible_to_other_blocks(load->getPointerOperand())) return false;
    return load->isVolatile() || load->isAtomic() ||
           (is_fixed_in(loop, load->getPointerOperand()) && has_fence(loop));
  }
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    return is_visible_to_other_blocks(update->getPointerOperand());
  }
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    return is_visible_to_other_blocks(exchange->getPointerOperand()) &&
           !retries_with_what_it_saw(*exchange);
  }
  // NVVM's own atomics and loads.
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction)) {
    const StringRef name = intrinsic->getCalledFunction()->getName();
    return name.starts_with("llvm.nvvm.atomic.");
  }
  return false;
}

// Awaited finds what the exits of a loop depend on: through operands, and through the branches that
// choose a phi's value or whether an exit is reached at all.
class Awaited {
 public:
  Awaited(const Loop& loop, PostDominatorTree& after) : loop_(loop), after_(after) {}

  // find() is an instruction of the loop by which it waits for other blocks, or null.
  const Instruction* find() {
    SmallVector<BasicBlock*> exiting;
    loop_.getExitingBlocks(exiting);
    for (BasicBlock* block : exiting) {
      add_condition(*block);
      add_branches_to(*block);
    }
    while (!pending_.empty()) {
      auto* instruction = dyn_cast<Instruction>(pending_.pop_back_val());
      if (instruction == nullptr || !loop_.contains(instruction)) continue;
      if (!seen_.insert(instruction).second) continue;
      if (waits_on(*instruction, loop_)) return instruction;
      pending_.append(instruction->op_begin(), instruction->op_end());
      if (auto* phi = dyn_cast<PHINode>(instruction)) {
        for (BasicBlock* from : phi->blocks())
          if (loop_.contains(from)) add_branches_to(*from);
      }
    }
    return nullptr;
  }

 private:
  void add_condition(const BasicBlock& block) {
    for (Value* operand : block.getTerminator()->operands()) {
      if (!isa<BasicBlock>(operand)) pending_.push_back(operand);
    }
  }

  // add_branches_to() adds the conditions, in the loop, that decide whether control comes to
  // `block`.
  void add_branches_to(BasicBlock& block) {
    if (!asked_.insert(&block).second) return;
    SmallPtrSet<BasicBlock*, 1> decided{&block};
    SmallVector<BasicBlock*> deciding;
    ReverseIDFCalculator frontier(after_);
    frontier.setDefiningBlocks(decided);
    frontier.calculate(deciding);
    for (const BasicBlock* branch : deciding)
      if (loop_.contains(branch)) add_condition(*branch);
  }

  const Loop& loop_;
  PostDominatorTree& after_;
  SmallVector<Value*> pending_;
  SmallPtrSet<const Instruction*, 32> seen_;
  SmallPtrSet<const BasicBlock*, 32> asked_;
};

}  // namespace

WideningReason grid_communication(llvm::Function& kernel) {
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  PostDominatorTree after(kernel);
  for (const Loop* loop : loops.getLoopsInPreorder()) {
    if (const Instruction* instruction = Awaited(*loop, after).find()) {
      return {Widening::grid_communication, ptx::source_line(*instruction)};
    }
  }
  return {};
}

}  // namespace sluice::analysis
