#include "hostcuda/jit/regions/inductions.hpp"

#include <algorithm>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Step is a sum of what was before it and of what all threads add alike.
struct Step {
  BinaryOperator* sum = nullptr;
  Value* added = nullptr;
};

struct Induction {
  PHINode* phi = nullptr;
  Value* start = nullptr;
  std::vector<Step> steps;  // from the phi on: several where rounds were unrolled
  BasicBlock* from_outside = nullptr;
  BasicBlock* from_inside = nullptr;
};

bool is_uniform(Value* value, const Uniformity& uniformity) {
  if (auto* argument = dyn_cast<Argument>(value)) {
    const unsigned number = argument->getArgNo();
    return number < ThreadFunction::tid || number >= ThreadFunction::first_parameter;
  }
  auto* instruction = dyn_cast<Instruction>(value);
  return !instruction || uniformity.is_uniform(*instruction);
}

bool describe(PHINode& phi, const Loop& loop, const Uniformity& uniformity, Induction& induction) {
  if (!phi.getType()->isIntegerTy() || phi.getNumIncomingValues() != 2) return false;
  const unsigned inside = loop.contains(phi.getIncomingBlock(0)) ? 0 : 1;
  if (loop.contains(phi.getIncomingBlock(1 - inside))) return false;
  Value* start = phi.getIncomingValue(1 - inside);
  if (is_uniform(start, uniformity)) return false;
  std::vector<Step> steps;
  for (Value* value = phi.getIncomingValue(inside); value != &phi;) {
    auto* sum = dyn_cast<BinaryOperator>(value);
    if (!sum || sum->getOpcode() != Instruction::Add || !loop.contains(sum)) return false;
    const auto adds = [&](unsigned operand) {
      Value* added = sum->getOperand(operand);
      return loop.isLoopInvariant(added) && is_uniform(added, uniformity);
    };
    const unsigned added = adds(1) ? 1 : 0;
    if (!adds(added)) return false;
    steps.push_back({sum, sum->getOperand(added)});
    value = sum->getOperand(1 - added);
  }
  std::reverse(steps.begin(), steps.end());
  induction = {&phi, start, std::move(steps), phi.getIncomingBlock(1 - inside),
               phi.getIncomingBlock(inside)};
  return !induction.steps.empty();
}

void split(const Induction& induction) {
  BasicBlock* header = induction.phi->getParent();
  Type* type = induction.phi->getType();
  IRBuilder<> ir(header, header->begin());
  PHINode* offset = ir.CreatePHI(type, 2, "offset");
  Value* moved = offset;
  for (const auto& [sum, added] : induction.steps) {
    ir.SetInsertPoint(sum);
    moved = ir.CreateAdd(moved, added, "offset.next");
    sum->replaceAllUsesWith(ir.CreateAdd(induction.start, moved));
  }
  offset->addIncoming(ConstantInt::get(type, 0), induction.from_outside);
  offset->addIncoming(moved, induction.from_inside);
  ir.SetInsertPoint(header, header->getFirstInsertionPt());
  Value* current = ir.CreateAdd(induction.start, offset);
  induction.phi->replaceAllUsesWith(current);
  induction.phi->eraseFromParent();
  for (const Step& step : induction.steps)
    step.sum->eraseFromParent();
}

}  // namespace

bool split_inductions(Function& function, const Uniformity& uniformity) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  std::vector<PHINode*> phis;
  for (const Loop* loop : loops.getLoopsInPreorder()) {
    for (PHINode& phi : loop->getHeader()->phis())
      phis.push_back(&phi);
  }
  // Inner loops first: they may start from an outer loop's variable, which the snapshot knows.
  std::reverse(phis.begin(), phis.end());
  bool changed = false;
  for (PHINode* phi : phis) {
    Induction induction;
    if (!describe(*phi, *loops.getLoopFor(phi->getParent()), uniformity, induction)) continue;
    split(induction);
    changed = true;
  }
  return changed;
}

}  // namespace sluice::hostcuda::jit
