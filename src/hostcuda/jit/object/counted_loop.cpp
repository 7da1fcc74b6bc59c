#include "hostcuda/jit/object/counted_loop.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool is_used_behind(const Loop& loop) {
  return any_of(loop.blocks(), [&](const BasicBlock* block) {
    return any_of(*block, [&](const Instruction& instruction) {
      return any_of(instruction.users(), [&](const User* user) {
        return !loop.contains(cast<Instruction>(user)->getParent());
      });
    });
  });
}

}  // namespace

std::optional<CountedLoop> CountedLoop::of(Loop& loop, ScalarEvolution& evolution) {
  if (!loop.isInnermost() || !loop.isLoopSimplifyForm() ||
      findOptionMDForLoop(&loop, "llvm.loop.parallel_accesses") == nullptr)
    return std::nullopt;
  CountedLoop counted;
  counted.loop = &loop;
  counted.header = loop.getHeader();
  counted.latch = loop.getLoopLatch();
  counted.exit = loop.getUniqueExitBlock();
  if (counted.exit == nullptr || loop.getExitingBlock() != counted.latch ||
      !hasSingleElement(counted.header->phis()))
    return std::nullopt;
  counted.index = &*counted.header->phis().begin();
  const Type* type = counted.index->getType();
  if (!type->isIntegerTy(32) && !type->isIntegerTy(64)) return std::nullopt;
  const auto* rounds = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(counted.index));
  if (rounds == nullptr || !rounds->getStepRecurrence(evolution)->isOne()) return std::nullopt;
  counted.next = dyn_cast<Instruction>(counted.index->getIncomingValueForBlock(counted.latch));
  counted.last_round = evolution.getBackedgeTakenCount(&loop);
  const SCEVExpander expander(evolution, counted.header->getDataLayout(), "rounds");
  if (counted.next == nullptr || isa<SCEVCouldNotCompute>(counted.last_round) ||
      !expander.isSafeToExpand(counted.last_round) || is_used_behind(loop))
    return std::nullopt;
  return counted;
}

void CountedLoop::run_between(BasicBlock* before, Value* first, Value* last,
                              BasicBlock* behind) const {
  index->setIncomingValueForBlock(before, first);
  auto* back = cast<BranchInst>(latch->getTerminator());
  Value* old_condition = back->getCondition();
  back->setCondition(IRBuilder<>(back).CreateICmpNE(next, last));
  back->setSuccessor(0, header);
  back->setSuccessor(1, behind);
  RecursivelyDeleteTriviallyDeadInstructions(old_condition);
}

}  // namespace sluice::hostcuda::jit
