#include "hostcuda/jit/stretches/counted_loop.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "hostcuda/jit/threads/thread_loops.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool is_used_behind(const Loop& loop, bool in_exit_phis_too) {
  const auto is_behind = [&](const User* user) {
    const auto* instruction = cast<Instruction>(user);
    const bool is_exit_phi =
        isa<PHINode>(instruction) && instruction->getParent() == loop.getUniqueExitBlock();
    return !loop.contains(instruction->getParent()) && (in_exit_phis_too || !is_exit_phi);
  };
  return any_of(loop.blocks(), [&](const BasicBlock* block) {
    return any_of(*block, [&](const Instruction& instruction) {
      return any_of(instruction.users(), is_behind);
    });
  });
}

// The header's phi that grows by one with each round.
PHINode* index_of(const Loop& loop, ScalarEvolution& evolution) {
  for (PHINode& phi : loop.getHeader()->phis()) {
    if (!phi.getType()->isIntegerTy(32) && !phi.getType()->isIntegerTy(64)) continue;
    const auto* rounds = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(&phi));
    if (rounds && rounds->getStepRecurrence(evolution)->isOne()) return &phi;
  }
  return nullptr;
}

}  // namespace

std::optional<CountedLoop> CountedLoop::of(Loop& loop, ScalarEvolution& evolution, Kinds kinds) {
  if (!(loop.isInnermost() || kinds.may_be_outer) || !loop.isLoopSimplifyForm() ||
      findOptionMDForLoop(&loop, "llvm.loop.parallel_accesses") == nullptr ||
      findOptionMDForLoop(&loop, lane_loop_option) != nullptr)
    return std::nullopt;
  CountedLoop counted;
  counted.loop = &loop;
  counted.header = loop.getHeader();
  counted.latch = loop.getLoopLatch();
  counted.exit = loop.getUniqueExitBlock();
  counted.index = index_of(loop, evolution);
  if (counted.exit == nullptr || loop.getExitingBlock() != counted.latch ||
      counted.index == nullptr || !(kinds.may_carry || hasSingleElement(counted.header->phis())))
    return std::nullopt;
  counted.next = dyn_cast<Instruction>(counted.index->getIncomingValueForBlock(counted.latch));
  counted.last_round = evolution.getBackedgeTakenCount(&loop);
  const SCEVExpander expander(evolution, counted.header->getDataLayout(), "rounds");
  if (counted.next == nullptr || isa<SCEVCouldNotCompute>(counted.last_round) ||
      !expander.isSafeToExpand(counted.last_round) || is_used_behind(loop, !kinds.may_carry))
    return std::nullopt;
  return counted;
}

bool CountedLoop::counts_from_0() const {
  const auto* first =
      dyn_cast<ConstantInt>(index->getIncomingValueForBlock(loop->getLoopPreheader()));
  return first != nullptr && first->isZero();
}

const SCEV* CountedLoop::start_of(Value* value, uint64_t step, ScalarEvolution& evolution) const {
  const auto* sum = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(value));
  if (sum == nullptr || sum->getLoop() != loop || !sum->isAffine()) return nullptr;
  const auto* constant = dyn_cast<SCEVConstant>(sum->getStepRecurrence(evolution));
  if (constant == nullptr || constant->getAPInt() != step) return nullptr;
  const SCEVExpander expander(evolution, header->getDataLayout(), "start");
  return expander.isSafeToExpand(sum->getStart()) ? sum->getStart() : nullptr;
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

PreservedAnalyses change_counted_loops(
    Function& function, FunctionAnalysisManager& analyses, CountedLoop::Kinds kinds,
    function_ref<bool(const CountedLoop& loop, ScalarEvolution& evolution)> change) {
  bool any = false;
  const auto change_one = [&] {
    ScalarEvolution& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    for (Loop* loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
      const std::optional<CountedLoop> counted = CountedLoop::of(*loop, evolution, kinds);
      if (counted && change(*counted, evolution)) return true;
    }
    return false;
  };
  while (change_one()) {
    any = true;
    analyses.invalidate(function, PreservedAnalyses::none());
  }
  return any ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace sluice::hostcuda::jit
