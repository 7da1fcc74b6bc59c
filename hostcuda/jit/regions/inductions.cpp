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

struct Induction {
  PHINode* phi = nullptr;
  Value* start = nullptr;
  BinaryOperator* next = nullptr;  // phi + step
  Value* step = nullptr;
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
  auto* next = dyn_cast<BinaryOperator>(phi.getIncomingValue(inside));
  if (!next || next->getOpcode() != Instruction::Add) return false;
  const unsigned phi_operand = next->getOperand(0) == &phi ? 0 : 1;
  if (next->getOperand(phi_operand) != &phi) return false;
  Value* step = next->getOperand(1 - phi_operand);
  Value* start = phi.getIncomingValue(1 - inside);
  if (is_uniform(start, uniformity) || !is_uniform(step, uniformity)) return false;
  if (!loop.isLoopInvariant(step)) return false;
  induction = {
      &phi, start, next, step, phi.getIncomingBlock(1 - inside), phi.getIncomingBlock(inside)};
  return true;
}

void split(const Induction& induction) {
  BasicBlock* header = induction.phi->getParent();
  Type* type = induction.phi->getType();
  IRBuilder<> ir(header, header->begin());
  PHINode* offset = ir.CreatePHI(type, 2, "offset");
  ir.SetInsertPoint(induction.next);
  Value* next_offset = ir.CreateAdd(offset, induction.step, "offset.next");
  offset->addIncoming(ConstantInt::get(type, 0), induction.from_outside);
  offset->addIncoming(next_offset, induction.from_inside);
  Value* next = ir.CreateAdd(induction.start, next_offset);
  ir.SetInsertPoint(header, header->getFirstInsertionPt());
  Value* current = ir.CreateAdd(induction.start, offset);
  induction.next->replaceAllUsesWith(next);
  induction.phi->replaceAllUsesWith(current);
  induction.phi->eraseFromParent();
  induction.next->eraseFromParent();
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
