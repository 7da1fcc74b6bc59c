#include "hostcuda/jit/regions/rematerialise.hpp"

#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr unsigned max_nodes = 24;

bool is_cheap(const Instruction& instruction) {
  if (instruction.getType()->isFloatingPointTy()) return false;
  if (auto* call = dyn_cast<IntrinsicInst>(&instruction)) {
    return call->doesNotAccessMemory() && !call->isConvergent();
  }
  return isa<BinaryOperator, CastInst, CmpInst, SelectInst, GetElementPtrInst>(instruction);
}

class Rematerialiser {
 public:
  Rematerialiser(Function& function, const Uniformity& uniformity) : uniformity_(uniformity) {
    cycles_.compute(function);
  }

  // fits() says whether `value` is a tree of cheap instructions over arguments, constants and
  // values that are uniform at `place`, with no more than `budget` nodes.
  bool fits(Value* value, const BasicBlock* place, unsigned& budget) const {
    if (is_leaf(value)) return !isa<Instruction>(value) || stays(cast<Instruction>(*value), place);
    auto* instruction = cast<Instruction>(value);
    if (!is_cheap(*instruction) || budget == 0) return false;
    --budget;
    return all_of(instruction->operands(),
                  [&](Use& operand) { return fits(operand.get(), place, budget); });
  }

  // place_of() is where a use takes its value.
  static Instruction* place_of(const Use& use) {
    auto* phi = dyn_cast<PHINode>(use.getUser());
    return phi ? phi->getIncomingBlock(use)->getTerminator() : cast<Instruction>(use.getUser());
  }

  void replace(Use& use) {
    Instruction* place = place_of(use);
    DenseMap<Value*, Value*> copies;
    Value* old = use.get();
    Value* copy = copy_before(old, place, copies);
    auto* phi = dyn_cast<PHINode>(use.getUser());
    if (!phi) {
      use.set(copy);
      return;
    }
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      if (phi->getIncomingBlock(i) == place->getParent()) phi->setIncomingValue(i, copy);
    }
  }

 private:
  // Whether a value that is uniform where the snapshot saw it used is so at `place`: no cycle lies
  // between that threads leave in rounds of their own, each with the value of its last one.
  bool stays(const Instruction& leaf, const BasicBlock* place) const {
    const Cycle* cycle = cycles_.getCycle(leaf.getParent());
    for (; cycle && !cycle->contains(place); cycle = cycle->getParentCycle()) {
      SmallVector<BasicBlock*, 4> exiting;
      cycle->getExitingBlocks(exiting);
      if (!all_of(exiting, [&](BasicBlock* b) { return uniformity_.has_uniform_branch(*b); })) {
        return false;
      }
    }
    return true;
  }

  // Copies are not in the snapshot and never leaves: they serve the block they stand in.
  bool is_leaf(const Value* value) const {
    auto* instruction = dyn_cast<Instruction>(value);
    return !instruction || (uniformity_.is_uniform(*instruction) && !copied_.contains(instruction));
  }

  Value* copy_before(Value* value, Instruction* place, DenseMap<Value*, Value*>& copies) {
    if (is_leaf(value)) return value;
    if (Value* copy = copies.lookup(value)) return copy;
    Instruction* copy = cast<Instruction>(value)->clone();
    for (Use& operand : copy->operands()) {
      operand.set(copy_before(operand.get(), place, copies));
    }
    copy->insertBefore(place->getIterator());
    copies[value] = copy;
    copied_.insert(copy);
    return copy;
  }

  const Uniformity& uniformity_;
  CycleInfo cycles_;
  DenseSet<const Instruction*> copied_;
};

}  // namespace

void rematerialise(Function& function, ArrayRef<Instruction*> values,
                   const Uniformity& uniformity) {
  Rematerialiser rematerialiser(function, uniformity);
  std::vector<std::pair<Instruction*, std::vector<Use*>>> chosen;
  for (Instruction* value : values) {
    if (uniformity.is_uniform(*value)) continue;
    std::vector<Use*> uses;
    for (Use& use : value->uses()) {
      auto* user = cast<Instruction>(use.getUser());
      if (!isa<PHINode>(user) && user->getParent() == value->getParent()) continue;
      unsigned budget = max_nodes;
      const BasicBlock* place = Rematerialiser::place_of(use)->getParent();
      if (rematerialiser.fits(value, place, budget)) uses.push_back(&use);
    }
    chosen.push_back({value, std::move(uses)});
  }
  for (const auto& [value, uses] : chosen) {
    for (Use* use : uses) {
      if (use->get() == value) rematerialiser.replace(*use);
    }
  }
  // What nobody uses any more can go, users first.
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto& [value, uses] : chosen) {
      if (!value || !value->use_empty() || uses.empty()) continue;
      value->eraseFromParent();
      value = nullptr;
      changed = true;
    }
  }
}

}  // namespace sluice::hostcuda::jit
