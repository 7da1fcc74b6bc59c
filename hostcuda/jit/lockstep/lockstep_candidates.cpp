#include "hostcuda/jit/lockstep/lockstep_candidates.hpp"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "hostcuda/jit/library/directed_float.hpp"
#include "hostcuda/jit/lockstep/lane_strides.hpp"
#include "hostcuda/jit/lockstep/uniform_ends.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr unsigned most_instructions = 1000;  // LLVM takes seconds for twice as many
constexpr unsigned most_phis = 256;           // each is loaded and stored in every round
constexpr unsigned most_copies = 400;         // instructions after which LLVM unrolls no further

// LLVM unrolls a short loop completely, and then the loop over threads is innermost anyhow.
bool is_unrolled(const Loop& loop, unsigned instructions) {
  auto* branch = dyn_cast<BranchInst>(loop.getLoopLatch()->getTerminator());
  if (branch && branch->hasMetadata(shared_end)) return false;
  auto* compare =
      branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
  auto* bound = compare ? dyn_cast<ConstantInt>(compare->getOperand(1)) : nullptr;
  auto* next = compare ? dyn_cast<BinaryOperator>(compare->getOperand(0)) : nullptr;
  auto* step = next && next->getOpcode() == Instruction::Add
                   ? dyn_cast<ConstantInt>(next->getOperand(1))
                   : nullptr;
  auto* phi = step ? dyn_cast<PHINode>(next->getOperand(0)) : nullptr;
  if (!bound || !phi || phi->getParent() != loop.getHeader() || step->isZero()) return false;
  auto* start = dyn_cast<ConstantInt>(phi->getIncomingValueForBlock(loop.getLoopPreheader()));
  if (!start || bound->getBitWidth() > 64) return false;
  const int64_t rounds = (bound->getSExtValue() - start->getSExtValue()) / step->getSExtValue();
  return rounds >= 0 && rounds * instructions <= most_copies;
}

// Whether each round goes on with a float that the last one computed: alone, a thread waits for it.
bool computes_in_turn(const Loop& loop) {
  return any_of(loop.getHeader()->phis(),
                [](const PHINode& phi) { return phi.getType()->isFloatingPointTy(); });
}

constexpr const char* near_mark = "sluice.near";

}  // namespace

bool is_plain(const Instruction& instruction) {
  if (instruction.isAtomic() || instruction.isVolatile() || isa<FenceInst>(instruction))
    return false;
  auto* call = dyn_cast<CallInst>(&instruction);
  if (!call || is_directed_float(*call)) return true;
  auto* intrinsic = dyn_cast<IntrinsicInst>(call);
  return intrinsic && !is_sync_point(*call) && isTriviallyVectorizable(intrinsic->getIntrinsicID());
}

bool is_near(Instruction& instruction, LaneStrides& strides) {
  auto* update = dyn_cast<AtomicRMWInst>(&instruction);
  const auto stride =
      strides.of(update ? update->getPointerOperand() : getLoadStorePointerOperand(&instruction));
  if (!stride) return false;
  Type* type = update ? update->getType() : getLoadStoreType(&instruction);
  const auto bytes =
      static_cast<int64_t>(instruction.getModule()->getDataLayout().getTypeStoreSize(type));
  return *stride == bytes || (*stride == 0 && isa<LoadInst>(instruction));
}

void mark_near_accesses(Function& function) {
  LaneStrides strides(function);
  MDNode* mark = MDNode::get(function.getContext(), {});
  for (Instruction& instruction : instructions(function)) {
    if (getLoadStorePointerOperand(&instruction) && is_near(instruction, strides)) {
      instruction.setMetadata(near_mark, mark);
    }
  }
}

bool is_lockstep_candidate(const Loop& loop) {
  if (!loop.isInnermost() || !loop.getLoopPreheader()) return false;
  BasicBlock* latch = loop.getLoopLatch();
  if (!latch || loop.getExitingBlock() != latch || !loop.getExitBlock()) return false;
  unsigned instructions = 0;
  unsigned accesses = 0;
  for (BasicBlock* block : loop.blocks()) {
    for (const Instruction& instruction : *block) {
      if (!is_plain(instruction)) return false;
      ++instructions;
      if (!getLoadStorePointerOperand(&instruction)) continue;
      ++accesses;
      if (!instruction.hasMetadata(near_mark)) return false;
    }
  }
  const auto phis = static_cast<unsigned>(range_size(loop.getHeader()->phis()));
  return instructions <= most_instructions && phis <= most_phis &&
         (accesses > 0 || computes_in_turn(loop)) && !is_unrolled(loop, instructions);
}

}  // namespace sluice::hostcuda::jit
