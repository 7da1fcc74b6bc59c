#include "hostcuda/jit/regions/live_values.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>

#include "hostcuda/jit/regions/liveness.hpp"
#include "hostcuda/jit/regions/rematerialise.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

SetVector<Instruction*> live_at(ArrayRef<BasicBlock*> entries, const Liveness& liveness) {
  SetVector<Instruction*> result;
  for (BasicBlock* entry : entries) {
    const auto& live = liveness.live_in(*entry);
    result.insert(live.begin(), live.end());
  }
  return result;
}

// Predicates are kept as bytes: an array of i1 can't be read as a vector.
Type* storage_type(Type* type) {
  return type->isIntegerTy(1) ? Type::getInt8Ty(type->getContext()) : type;
}

BasicBlock::iterator after_definition(Instruction& value) {
  if (isa<PHINode>(value)) return value.getParent()->getFirstInsertionPt();
  return std::next(value.getIterator());
}

// Whether the value itself can be used: later in the block that defines it, where no cut lies
// between.
bool is_local_use(const Use& use, const Instruction& value) {
  auto* user = cast<Instruction>(use.getUser());
  return !isa<PHINode>(user) && user->getParent() == value.getParent();
}

Value* load_slot(AllocaInst* storage, Type* type, IRBuilder<>& ir) {
  Value* loaded = ir.CreateLoad(storage->getAllocatedType(), storage);
  return type->isIntegerTy(1) ? ir.CreateTrunc(loaded, type) : loaded;
}

void replace_use(Use& use, AllocaInst* storage, Type* type) {
  auto* user = cast<Instruction>(use.getUser());
  auto* phi = dyn_cast<PHINode>(user);
  if (!phi) {
    IRBuilder<> ir(user);
    use.set(load_slot(storage, type, ir));
    return;
  }
  // A predecessor with several edges to the phi must bring one value.
  Value* old = use.get();
  BasicBlock* from = phi->getIncomingBlock(use);
  IRBuilder<> ir(from->getTerminator());
  Value* loaded = load_slot(storage, type, ir);
  for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
    if (phi->getIncomingBlock(i) == from && phi->getIncomingValue(i) == old) {
      phi->setIncomingValue(i, loaded);
    }
  }
}

Slot make_slot(Instruction& value, bool uniform) {
  Function& function = *value.getFunction();
  BasicBlock& entry = function.getEntryBlock();
  IRBuilder<> entry_ir(&entry, entry.begin());
  Type* type = value.getType();
  AllocaInst* storage = entry_ir.CreateAlloca(storage_type(type), nullptr, "kept");

  std::vector<Use*> uses;
  for (Use& use : value.uses()) {
    if (!is_local_use(use, value)) uses.push_back(&use);
  }
  for (Use* use : uses) {
    // A phi's use may have been replaced together with another one of the same edge.
    if (use->get() == &value) replace_use(*use, storage, type);
  }
  IRBuilder<> ir(value.getParent(), after_definition(value));
  Value* stored = type->isIntegerTy(1) ? ir.CreateZExt(&value, storage_type(type)) : &value;
  ir.CreateStore(stored, storage);
  return {storage, uniform};
}

}  // namespace

LiveValues keep_live_values(Function& function, ArrayRef<BasicBlock*> entries,
                            const Uniformity& uniformity) {
  {
    const Liveness liveness(function);
    rematerialise(function, live_at(entries, liveness).getArrayRef(), uniformity);
  }
  const Liveness liveness(function);
  LiveValues result;
  const SetVector<Instruction*> kept = live_at(entries, liveness);
  DenseMap<Instruction*, unsigned> numbers;
  for (Instruction* value : kept)
    numbers.try_emplace(value, numbers.size());
  for (BasicBlock* entry : entries) {
    std::vector<unsigned>& live = result.live_in[entry];
    for (Instruction* value : liveness.live_in(*entry))
      live.push_back(numbers.lookup(value));
  }
  for (Instruction* value : kept) {
    result.slots.push_back(make_slot(*value, uniformity.is_uniform(*value)));
  }
  return result;
}

}  // namespace sluice::hostcuda::jit
