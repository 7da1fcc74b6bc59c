#include "hostcuda/jit/stretches/stepped_threads.hpp"

#include <optional>

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Transforms/Utils/Local.h>

#include "hostcuda/jit/stretches/counted_loop.hpp"
#include "hostcuda/jit/stretches/thread_guard.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Step is which rounds of a loop let the comparison be what it must: first, first + every, ...
struct Step {
  ICmpInst* comparison = nullptr;
  bool wanted = false;
  uint64_t first = 0;
  uint64_t every = 0;
};

// step_of() reads `(round + start) % 2^bits == rest`, as scalar evolution sees its left side: a sum
// of so many bits.
std::optional<Step> step_of(ICmpInst& comparison, bool wanted, const CountedLoop& loop,
                            ScalarEvolution& evolution) {
  const auto* rest = dyn_cast<ConstantInt>(comparison.getOperand(1));
  const auto* last_round = dyn_cast<SCEVConstant>(loop.last_round);
  if (!rest || !last_round || !comparison.isEquality()) return std::nullopt;
  const SCEV* value = evolution.getSCEV(comparison.getOperand(0));
  if (const auto* wide = dyn_cast<SCEVZeroExtendExpr>(value)) value = wide->getOperand();
  const auto* sum = dyn_cast<SCEVAddRecExpr>(value);
  const auto* start = sum ? dyn_cast<SCEVConstant>(sum->getStart()) : nullptr;
  if (!start || sum->getLoop() != loop.loop || !sum->isAffine() ||
      !sum->getStepRecurrence(evolution)->isOne())
    return std::nullopt;
  const unsigned bits = start->getAPInt().getBitWidth();
  if (bits >= 32 || rest->getValue().getActiveBits() > bits) return std::nullopt;
  APInt first = rest->getValue().zextOrTrunc(bits) - start->getAPInt();
  if ((comparison.getPredicate() == CmpInst::ICMP_EQ) != wanted) {
    if (bits > 1) return std::nullopt;
    ++first;  // one bit is the other, then
  }
  const Step step{&comparison, wanted, first.getZExtValue(), uint64_t{1} << bits};
  return last_round->getAPInt().ult(step.every - 1) ? std::nullopt : std::optional(step);
}

// What must hold, or must not, is taken apart until a comparison tells a step.
std::optional<Step> find_step(Value* guard, bool wanted, const CountedLoop& loop,
                              ScalarEvolution& evolution) {
  Value* a = nullptr;
  Value* b = nullptr;
  if (is_both(guard, wanted, a, b)) {
    const std::optional<Step> step = find_step(a, wanted, loop, evolution);
    return step ? step : find_step(b, wanted, loop, evolution);
  }
  auto* comparison = dyn_cast<ICmpInst>(guard);
  if (!comparison || !loop.loop->contains(comparison)) return std::nullopt;
  return step_of(*comparison, wanted, loop, evolution);
}

void take_steps(const CountedLoop& loop, const Step& step) {
  const uint64_t rounds = cast<SCEVConstant>(loop.last_round)->getAPInt().getZExtValue() + 1;
  const uint64_t last = step.first + alignTo(rounds - step.first, step.every);
  IRBuilder<> ir(loop.latch->getTerminator());
  Type* type = loop.index->getType();
  CountedLoop stepped = loop;
  stepped.next = cast<Instruction>(ir.CreateNUWAdd(loop.index, ConstantInt::get(type, step.every)));
  loop.index->setIncomingValueForBlock(loop.latch, stepped.next);
  stepped.run_between(loop.loop->getLoopPreheader(), ConstantInt::get(type, step.first),
                      ConstantInt::get(type, last), loop.exit);
  step.comparison->replaceAllUsesWith(ir.getInt1(step.wanted));
  RecursivelyDeleteTriviallyDeadInstructions(step.comparison);
  ConstantFoldTerminator(loop.header, true);
}

bool step(const CountedLoop& loop, ScalarEvolution& evolution) {
  const std::optional<bool> wanted = wanted_of_guard(loop);
  if (!wanted || !loop.counts_from_0()) return false;
  const auto* branch = cast<BranchInst>(loop.header->getTerminator());
  const std::optional<Step> step = find_step(branch->getCondition(), *wanted, loop, evolution);
  if (step) take_steps(loop, *step);
  return step.has_value();
}

}  // namespace

PreservedAnalyses SteppedThreadsPass::run(Function& function, FunctionAnalysisManager& analyses) {
  return change_counted_loops(function, analyses, {}, step);
}

}  // namespace sluice::hostcuda::jit
