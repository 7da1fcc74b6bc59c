#include "hostcuda/jit/stretches/one_lane.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "hostcuda/jit/threads/thread_loops.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Whether the value is the number of the loop's round, from 0 on.
bool counts_rounds(Value* value, const Loop& loop, ScalarEvolution& evolution) {
  const auto* number = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(value));
  return number && number->getLoop() == &loop && number->getStart()->isZero() &&
         number->isAffine() && number->getStepRecurrence(evolution)->isOne();
}

// LaneLoop is a loop whose rounds do something in one lane only.
struct LaneLoop {
  PHINode* index = nullptr;
  uint64_t lane = 0;
  static std::optional<LaneLoop> of(const Loop& loop, ScalarEvolution& evolution);
};

// The lane that the branch at the end of the loop's first block lets through.
std::optional<uint64_t> only_lane(const Loop& loop, ScalarEvolution& evolution) {
  const auto* branch = dyn_cast<BranchInst>(loop.getHeader()->getTerminator());
  if (!branch || !branch->isConditional()) return std::nullopt;
  const auto* compare = dyn_cast<ICmpInst>(branch->getCondition());
  const auto* lane = compare ? dyn_cast<ConstantInt>(compare->getOperand(1)) : nullptr;
  if (!lane || !compare->isEquality() || lane->getValue().uge(32)) return std::nullopt;
  const unsigned skips = compare->getPredicate() == CmpInst::ICMP_EQ ? 1 : 0;
  if (branch->getSuccessor(skips) != loop.getLoopLatch() ||
      branch->getSuccessor(1 - skips) == loop.getLoopLatch())
    return std::nullopt;
  if (!counts_rounds(compare->getOperand(0), loop, evolution)) return std::nullopt;
  return lane->getZExtValue();
}

std::optional<LaneLoop> LaneLoop::of(const Loop& loop, ScalarEvolution& evolution) {
  BasicBlock* latch = loop.getLoopLatch();
  if (!loop.isInnermost() || !loop.isLoopSimplifyForm() || loop.getExitingBlock() != latch ||
      !findOptionMDForLoop(&loop, lane_loop_option) || loop.getHeader() == latch ||
      !hasSingleElement(loop.getHeader()->phis()) || isa<PHINode>(latch->front()) ||
      !does_nothing(*loop.getHeader()) || !does_nothing(*latch) ||
      evolution.getSmallConstantTripCount(&loop) != 32)
    return std::nullopt;
  PHINode* index = &*loop.getHeader()->phis().begin();
  const std::optional<uint64_t> lane = only_lane(loop, evolution);
  if (!lane || !counts_rounds(index, loop, evolution) || !loop.getExitBlock()->phis().empty())
    return std::nullopt;
  return LaneLoop{index, *lane};
}

void run_one(const Loop& loop, const LaneLoop& one) {
  one.index->setIncomingValueForBlock(loop.getLoopPreheader(),
                                      ConstantInt::get(one.index->getType(), one.lane));
  auto* back = cast<BranchInst>(loop.getLoopLatch()->getTerminator());
  const bool ends_where_true = back->getSuccessor(0) != loop.getHeader();
  back->setCondition(ConstantInt::getBool(back->getContext(), ends_where_true));
  ConstantFoldTerminator(back->getParent(), true);
}

}  // namespace

PreservedAnalyses OneLanePass::run(Function& function, FunctionAnalysisManager& analyses) {
  ScalarEvolution& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  std::vector<std::pair<const Loop*, LaneLoop>> found;
  for (const Loop* loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    if (const std::optional<LaneLoop> one = LaneLoop::of(*loop, evolution))
      found.emplace_back(loop, *one);
  }
  for (const auto& [loop, one] : found)
    run_one(*loop, one);
  return found.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

}  // namespace sluice::hostcuda::jit
