#include "hostcuda/jit/regions/rematerialise.hpp"

#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
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
  explicit Rematerialiser(const Uniformity& uniformity) : uniformity_(uniformity) {}

  // fits() says whether `value` is a tree of cheap instructions over arguments, constants and
  // uniform values, with no more than `budget` nodes.
  bool fits(Value* value, unsigned& budget) const {
    if (is_leaf(value)) return true;
    auto* instruction = cast<Instruction>(value);
    if (!is_cheap(*instruction) || budget == 0) return false;
    --budget;
    return all_of(instruction->operands(),
                  [&](Use& operand) { return fits(operand.get(), budget); });
  }

  void replace(Use& use) {
    auto* user = cast<Instruction>(use.getUser());
    auto* phi = dyn_cast<PHINode>(user);
    DenseMap<Value*, Value*> copies;
    if (!phi) {
      use.set(copy_before(use.get(), user, copies));
      return;
    }
    BasicBlock* from = phi->getIncomingBlock(use);
    Value* copy = copy_before(use.get(), from->getTerminator(), copies);
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      if (phi->getIncomingBlock(i) == from) phi->setIncomingValue(i, copy);
    }
  }

 private:
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
  DenseSet<const Instruction*> copied_;
};

}  // namespace

void rematerialise(ArrayRef<Instruction*> values, const Uniformity& uniformity) {
  Rematerialiser rematerialiser(uniformity);
  std::vector<Instruction*> chosen;
  for (Instruction* value : values) {
    unsigned budget = max_nodes;
    if (uniformity.is_uniform(*value) || !rematerialiser.fits(value, budget)) continue;
    chosen.push_back(value);
  }
  for (Instruction* value : chosen) {
    std::vector<Use*> uses;
    for (Use& use : value->uses()) {
      auto* user = cast<Instruction>(use.getUser());
      if (isa<PHINode>(user) || user->getParent() != value->getParent()) uses.push_back(&use);
    }
    for (Use* use : uses) {
      if (use->get() == value) rematerialiser.replace(*use);
    }
  }
  // A copy is in place of every value, so what nobody uses any more can go, users first.
  bool changed = true;
  while (changed) {
    changed = false;
    for (Instruction*& value : chosen) {
      if (!value || !value->use_empty()) continue;
      value->eraseFromParent();
      value = nullptr;
      changed = true;
    }
  }
}

}  // namespace sluice::hostcuda::jit
