#include "hostcuda/jit/object/thread_switches.hpp"

#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// A longer chain of branches would have each lane of a vector compute them all.
constexpr unsigned most_cases = 16;

std::vector<SwitchInst*> switches_in_thread_loops(LoopInfo& loops) {
  std::vector<SwitchInst*> found;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || !findOptionMDForLoop(loop, "llvm.loop.parallel_accesses")) continue;
    for (BasicBlock* block : loop->blocks()) {
      auto* candidate = dyn_cast<SwitchInst>(block->getTerminator());
      if (candidate && candidate->getNumCases() <= most_cases) found.push_back(candidate);
    }
  }
  return found;
}

// A phi of `target` has one entry for each edge that came from `from`; now one of them comes from
// `to`.
void move_edge(BasicBlock* target, BasicBlock* from, BasicBlock* to) {
  for (PHINode& phi : target->phis())
    phi.setIncomingBlock(phi.getBasicBlockIndex(from), to);
}

void make_branches(SwitchInst& old) {
  BasicBlock* first = old.getParent();
  BasicBlock* at = first;
  Value* condition = old.getCondition();
  BasicBlock* otherwise = old.getDefaultDest();
  std::vector<std::pair<ConstantInt*, BasicBlock*>> cases;
  for (const auto& one : old.cases())
    cases.push_back({one.getCaseValue(), one.getCaseSuccessor()});
  old.eraseFromParent();
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto [value, target] = cases[i];
    IRBuilder<> ir(at);
    Value* is_it = ir.CreateICmpEQ(condition, value);
    const bool is_last = i + 1 == cases.size();
    BasicBlock* next =
        is_last ? otherwise
                : BasicBlock::Create(ir.getContext(), "case", first->getParent(), target);
    ir.CreateCondBr(is_it, target, next);
    if (at != first) move_edge(target, first, at);
    if (is_last && at != first) move_edge(otherwise, first, at);
    at = next;
  }
}

}  // namespace

PreservedAnalyses ThreadSwitchesPass::run(Function& function, FunctionAnalysisManager& analyses) {
  const std::vector<SwitchInst*> switches =
      switches_in_thread_loops(analyses.getResult<LoopAnalysis>(function));
  for (SwitchInst* one : switches)
    make_branches(*one);
  return switches.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

}  // namespace sluice::hostcuda::jit
