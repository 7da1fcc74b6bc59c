#include "analysis/kernel/variation.hpp"

#include <algorithm>
#include <utility>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/IteratedDominanceFrontier.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "analysis/kernel/address_bases.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

constexpr const char* registers = "llvm.nvvm.read.ptx.sreg.";

bool is_private(const Value* address) {
  const unsigned space = address->getType()->getPointerAddressSpace();
  return space == 3 || space == 5 || isa<AllocaInst>(address->stripPointerCasts());
}

// of_register() is by what a special register varies.
Varies of_register(StringRef name) {
  for (const char* const same : {"ntid", "nctaid", "warpsize", "nwarpid"})
    if (name.starts_with(same)) return Varies::not_at_all;
  for (const char* const own : {"tid", "laneid", "warpid", "lanemask"})
    if (name.starts_with(own)) return Varies::by_thread;
  return Varies::by_block;
}

const Value* condition_of(const BasicBlock& block) {
  const Instruction* const end = block.getTerminator();
  if (const auto* branch = dyn_cast<BranchInst>(end))
    return branch->isConditional() ? branch->getCondition() : nullptr;
  const auto* choice = dyn_cast<SwitchInst>(end);
  return choice == nullptr ? nullptr : choice->getCondition();
}

}  // namespace

Variation::Variation(Function& kernel, IsWritten is_written)
    : is_written_(std::move(is_written)), dominators_(kernel), after_(kernel) {
  for (BasicBlock& block : kernel)
    for (PHINode& phi : block.phis())
      find_deciding(phi);
  for (bool changes = true; changes;) {
    changes = false;
    for (const Instruction& instruction : instructions(kernel)) {
      Varies& known = known_.try_emplace(&instruction, Varies::not_at_all).first->second;
      const Varies now = std::max(known, evaluate(instruction));
      changes |= now != known || note_private_store(instruction);
      known_[&instruction] = now;
    }
  }
}

Varies Variation::of(const Value* value) const {
  const auto found = known_.find(value);
  return found == known_.end() ? Varies::not_at_all : found->second;
}

Varies Variation::of_operands(const Instruction& instruction) const {
  Varies most = Varies::not_at_all;
  for (const Value* operand : instruction.operands())
    most = std::max(most, of(operand));
  return most;
}

Varies Variation::evaluate(const Instruction& instruction) const {
  if (const auto* phi = dyn_cast<PHINode>(&instruction)) return of_phi(*phi);
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) {
    return load->isVolatile() || load->isAtomic() ? Varies::by_block
                                                  : of_load(*load, load->getPointerOperand());
  }
  if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction))
    return Varies::by_block;
  if (const auto* call = dyn_cast<CallBase>(&instruction)) return of_call(*call);
  return of_operands(instruction);
}

Varies Variation::of_call(const CallBase& call) const {
  const Function* const callee = call.getCalledFunction();
  if (callee == nullptr) return Varies::by_block;
  StringRef name = callee->getName();
  if (name.consume_front(registers)) return of_register(name);
  if (name.starts_with("llvm.nvvm.ldg.") || name.starts_with("llvm.nvvm.ldu."))
    return of_load(call, call.getArgOperand(0));
  const bool is_computed = call.doesNotAccessMemory() || call.onlyAccessesInaccessibleMemory();
  return is_computed && callee->isIntrinsic() ? of_operands(call) : Varies::by_block;
}

Varies Variation::of_load(const Instruction& load, const Value* address) const {
  if (is_private(address)) return std::max(private_memory_, of(address));
  return is_written_(load) ? Varies::by_block : of(address);
}

// The passes through a loop count as threads: a phi that has one is chosen by them.
Varies Variation::of_phi(const PHINode& phi) const {
  Varies most = std::max(Varies::by_thread, of_operands(phi));
  const auto found = deciding_.find(&phi);
  if (found == deciding_.end()) return most;
  for (const Value* condition : found->second)
    most = std::max(most, of(condition));
  return most;
}

// find_deciding() finds the branches below the nearest one that all ways to the phi have passed.
void Variation::find_deciding(PHINode& phi) {
  const auto* const node = dominators_.getNode(phi.getParent());
  if (node == nullptr || node->getIDom() == nullptr) return;
  const BasicBlock* const top = node->getIDom()->getBlock();
  auto& conditions = deciding_[&phi];
  const auto add = [&](const BasicBlock& block) {
    const Value* const condition = condition_of(block);
    if (condition != nullptr && dominators_.dominates(top, &block)) conditions.push_back(condition);
  };
  for (BasicBlock* from : phi.blocks()) {
    add(*from);
    SmallPtrSet<BasicBlock*, 1> decided{from};
    SmallVector<BasicBlock*> deciding;
    ReverseIDFCalculator frontier(after_);
    frontier.setDefiningBlocks(decided);
    frontier.calculate(deciding);
    for (const BasicBlock* branch : deciding)
      add(*branch);
  }
}

// note_private_store() is true where it changes what lies in shared and local memory.
bool Variation::note_private_store(const Instruction& instruction) {
  Varies stored = Varies::not_at_all;
  if (const auto* store = dyn_cast<StoreInst>(&instruction)) {
    if (!is_private(store->getPointerOperand())) return false;
    stored = of_operands(*store);
  } else if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction)) {
    if (!is_private(instruction.getOperand(0))) return false;
    stored = of_operands(instruction);
  } else {
    return false;
  }
  if (stored <= private_memory_) return false;
  private_memory_ = stored;
  return true;
}

}  // namespace sluice::analysis
