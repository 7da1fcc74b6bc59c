#include "hostcuda/jit/block/shared_atomics.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool lies_in(const Value* pointer, const Argument& memory) {
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects, nullptr, 0);
  return all_of(objects, [&](const Value* object) { return object == &memory; });
}

void update(AtomicRMWInst& atomic) {
  IRBuilder<> ir(&atomic);
  Value* place = atomic.getPointerOperand();
  Value* before = ir.CreateAlignedLoad(atomic.getType(), place, atomic.getAlign(), true);
  Value* after = buildAtomicRMWValue(atomic.getOperation(), ir, before, atomic.getValOperand());
  ir.CreateAlignedStore(after, place, atomic.getAlign(), true);
  atomic.replaceAllUsesWith(before);
  atomic.eraseFromParent();
}

void exchange(AtomicCmpXchgInst& atomic) {
  IRBuilder<> ir(&atomic);
  Value* place = atomic.getPointerOperand();
  Value* wanted = atomic.getCompareOperand();
  Value* before = ir.CreateAlignedLoad(wanted->getType(), place, atomic.getAlign(), true);
  Value* equal = ir.CreateICmpEQ(before, wanted);
  ir.CreateAlignedStore(ir.CreateSelect(equal, atomic.getNewValOperand(), before), place,
                        atomic.getAlign(), true);
  Value* pair = ir.CreateInsertValue(PoisonValue::get(atomic.getType()), before, 0);
  atomic.replaceAllUsesWith(ir.CreateInsertValue(pair, equal, 1));
  atomic.eraseFromParent();
}

}  // namespace

void make_shared_atomics_plain(Function& body, const Argument& shared) {
  for (Instruction& instruction : make_early_inc_range(instructions(body))) {
    if (auto* atomic = dyn_cast<AtomicRMWInst>(&instruction)) {
      if (lies_in(atomic->getPointerOperand(), shared)) update(*atomic);
    } else if (auto* swap = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
      if (lies_in(swap->getPointerOperand(), shared)) exchange(*swap);
    }
  }
}

}  // namespace sluice::hostcuda::jit
