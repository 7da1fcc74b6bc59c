#include "hostcuda/jit/regions/uniformity.hpp"

#include <llvm/ADT/GenericUniformityImpl.h>
#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/SSAContext.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool is_block_wide_result(const Value* value, const std::vector<SyncPoint>& points) {
  return any_of(points, [&](const SyncPoint& point) {
    return point.result == value && is_block_wide(point.code.operation) && !point.is_numbered;
  });
}

bool is_divergent_argument(const Argument& argument) {
  const unsigned number = argument.getArgNo();
  return number >= ThreadFunction::tid && number < ThreadFunction::first_parameter;
}

bool is_divergent_load(const LoadInst& load) {
  return !load.isSimple() || isa<AllocaInst>(getUnderlyingObject(load.getPointerOperand()));
}

// BlockDivergence tells LLVM's analysis where divergence comes from: it asks a target for that.
class BlockDivergence : public TargetTransformInfoImplCRTPBase<BlockDivergence> {
 public:
  BlockDivergence(const DataLayout& layout, const std::vector<SyncPoint>& points)
      : TargetTransformInfoImplCRTPBase(layout), points_(&points) {}

  bool hasBranchDivergence(const Function* = nullptr) const { return true; }

  bool isSourceOfDivergence(const Value* value) const {
    if (auto* argument = dyn_cast<Argument>(value)) return is_divergent_argument(*argument);
    if (auto* load = dyn_cast<LoadInst>(value)) return is_divergent_load(*load);
    // Each thread has its own local memory.
    if (isa<AllocaInst, AtomicRMWInst, AtomicCmpXchgInst>(value)) return true;
    auto* call = dyn_cast<CallBase>(value);
    if (!call || is_block_wide_result(value, *points_)) return false;
    return !call->doesNotAccessMemory() || call->isConvergent();
  }

  bool isAlwaysUniform(const Value* value) const { return is_block_wide_result(value, *points_); }

 private:
  const std::vector<SyncPoint>* points_;
};

}  // namespace

Uniformity::Uniformity(Function& function, const std::vector<SyncPoint>& points) {
  DominatorTree dominators(function);
  CycleInfo cycles;
  cycles.compute(function);
  TargetTransformInfo target(BlockDivergence(function.getParent()->getDataLayout(), points));
  UniformityInfo info(dominators, cycles, &target);
  info.compute();
  for (Instruction& instruction : instructions(function)) {
    // A value may be uniform inside a loop that threads leave at different times, and divergent
    // for those who use it after the loop.
    const bool divergent =
        info.isDivergent(static_cast<const Value*>(&instruction)) ||
        any_of(instruction.uses(), [&](const Use& use) { return info.isDivergentUse(use); });
    if (divergent) divergent_.insert(&instruction);
  }
  for (BasicBlock& block : function) {
    const Instruction* terminator = block.getTerminator();
    const bool divergent_operand =
        terminator->getNumSuccessors() > 1 && info.isDivergentUse(terminator->getOperandUse(0));
    if (divergent_operand || info.hasDivergentTerminator(block)) divergent_branches_.insert(&block);
  }
}

}  // namespace sluice::hostcuda::jit
