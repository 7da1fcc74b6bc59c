#include "hostcuda/jit/vectors/narrow_masks.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// lanes_of() is how many lanes a mask has, which are the first ones; 0 where it is no such mask, or
// has all of them.
unsigned lanes_of(const Value* mask) {
  const auto* constant = dyn_cast<Constant>(mask);
  const auto* type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type) return 0;
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const Constant* bit = constant->getAggregateElement(lane);
    if (!bit || (!bit->isOneValue() && !bit->isNullValue())) return 0;
    if (bit->isNullValue()) continue;
    if (lanes != lane) return 0;
    ++lanes;
  }
  return lanes < type->getNumElements() && isPowerOf2_32(lanes) ? lanes : 0;
}

// The lanes beyond are those of what the load was given for them.
Value* load(IRBuilder<>& ir, const IntrinsicInst& call, unsigned lanes) {
  const auto* whole = cast<FixedVectorType>(call.getType());
  auto* narrow = FixedVectorType::get(whole->getElementType(), lanes);
  const MaybeAlign align = cast<ConstantInt>(call.getArgOperand(1))->getMaybeAlignValue();
  Value* loaded = ir.CreateAlignedLoad(narrow, call.getArgOperand(0), align);
  const unsigned beyond = whole->getNumElements() - lanes;
  loaded = ir.CreateShuffleVector(loaded, createSequentialMask(0, lanes, beyond));
  if (isa<UndefValue>(call.getArgOperand(3))) return loaded;
  return ir.CreateSelect(call.getArgOperand(2), loaded, call.getArgOperand(3));
}

void store(IRBuilder<>& ir, const IntrinsicInst& call, unsigned lanes) {
  const MaybeAlign align = cast<ConstantInt>(call.getArgOperand(2))->getMaybeAlignValue();
  Value* narrow = ir.CreateShuffleVector(call.getArgOperand(0), createSequentialMask(0, lanes, 0));
  ir.CreateAlignedStore(narrow, call.getArgOperand(1), align);
}

}  // namespace

PreservedAnalyses NarrowMasksPass::run(Function& function, FunctionAnalysisManager& /*analyses*/) {
  bool changed = false;
  for (Instruction& instruction : make_early_inc_range(instructions(function))) {
    auto* call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call) continue;
    const bool is_load = call->getIntrinsicID() == Intrinsic::masked_load;
    if (!is_load && call->getIntrinsicID() != Intrinsic::masked_store) continue;
    const unsigned lanes = lanes_of(call->getArgOperand(is_load ? 2 : 3));
    if (lanes == 0) continue;
    IRBuilder<> ir(call);
    if (is_load) {
      call->replaceAllUsesWith(load(ir, *call, lanes));
    } else {
      store(ir, *call, lanes);
    }
    call->eraseFromParent();
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace sluice::hostcuda::jit
