#include "hostcuda/jit/stretches/thread_guard.hpp"

#include <algorithm>

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include "hostcuda/jit/threads/thread_loops.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

class GuardReader {
 public:
  GuardReader(const CountedLoop& loop, ScalarEvolution& evolution)
      : loop_(loop), evolution_(evolution) {}

  // take() takes apart what must be `wanted`.
  void take(Value* value, bool wanted) {
    Value* a = nullptr;
    Value* b = nullptr;
    if (is_both(value, wanted, a, b)) {
      take(a, wanted);
      take(b, wanted);
    } else if (auto* compare = dyn_cast<ICmpInst>(value); !compare || !take(*compare, wanted)) {
      guard_.others.push_back({value, wanted});
    }
  }

  const ThreadGuard& guard() const { return guard_; }

 private:
  bool take(ICmpInst& compare, bool wanted) {
    CmpInst::Predicate predicate = wanted ? compare.getPredicate() : compare.getInversePredicate();
    Value* index = compare.getOperand(0);
    Value* limit = compare.getOperand(1);
    if (loop_.loop->isLoopInvariant(index)) {
      std::swap(index, limit);
      predicate = CmpInst::getSwappedPredicate(predicate);
    }
    if (predicate == CmpInst::ICMP_NE || !loop_.loop->isLoopInvariant(limit)) return false;
    if (take_known(index, predicate, limit)) return true;
    if (!limit->getType()->isIntegerTy(32)) return false;
    const SCEV* start = loop_.start_of(index, 1, evolution_);
    if (start == nullptr) return false;
    guard_.comparisons.push_back({start, predicate, limit});
    return true;
  }

  // As in a tree of additions, whose steps are for the first 128, 64, 32 … threads.
  bool take_known(Value* index, CmpInst::Predicate predicate, Value* limit) {
    const auto* wanted = dyn_cast<ConstantInt>(limit);
    const auto* last_round = dyn_cast<SCEVConstant>(loop_.last_round);
    if (wanted == nullptr || last_round == nullptr) return false;
    const auto* start = dyn_cast_or_null<SCEVConstant>(loop_.start_of(index, 1, evolution_));
    if (start == nullptr) return false;
    const APInt& first = start->getAPInt();
    const APInt rounds = last_round->getAPInt().zextOrTrunc(first.getBitWidth()) + 1;
    const ConstantRange all(first, first + rounds);
    const std::optional<ConstantRange> some =
        ConstantRange::makeExactICmpRegion(predicate, wanted->getValue()).exactIntersectWith(all);
    if (!some || rounds.isZero() || all.isWrappedSet()) return false;
    ThreadGuard::Rounds found{0, 0};
    if (!some->isEmptySet())
      found = {(some->getLower() - first).getZExtValue(),
               (some->getUpper() - first).getZExtValue()};
    if (guard_.known) {
      found.first = std::max(found.first, guard_.known->first);
      found.last = std::max(found.first, std::min(found.last, guard_.known->last));
    }
    guard_.known = found;
    return true;
  }

  const CountedLoop& loop_;
  ScalarEvolution& evolution_;
  ThreadGuard guard_;
};

}  // namespace

bool is_both(Value* condition, bool wanted, Value*& a, Value*& b) {
  using namespace PatternMatch;
  return wanted ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
                : match(condition, m_LogicalOr(m_Value(a), m_Value(b)));
}

std::optional<bool> wanted_of_guard(const CountedLoop& loop) {
  const auto* branch = dyn_cast<BranchInst>(loop.header->getTerminator());
  if (loop.header == loop.latch || branch == nullptr || !branch->isConditional()) {
    return std::nullopt;
  }
  const bool skips_where_false = branch->getSuccessor(1) == loop.latch;
  if (!skips_where_false && branch->getSuccessor(0) != loop.latch) return std::nullopt;
  if (isa<PHINode>(loop.latch->front()) || !does_nothing(*loop.header) ||
      !does_nothing(*loop.latch))
    return std::nullopt;
  return skips_where_false;
}

std::optional<ThreadGuard> ThreadGuard::of(const CountedLoop& loop, ScalarEvolution& evolution) {
  const std::optional<bool> wanted = wanted_of_guard(loop);
  if (!wanted) return std::nullopt;
  GuardReader reader(loop, evolution);
  reader.take(cast<BranchInst>(loop.header->getTerminator())->getCondition(), *wanted);
  if (reader.guard().comparisons.empty() && !reader.guard().known) return std::nullopt;
  return reader.guard();
}

void ThreadGuard::keep_others(const CountedLoop& loop) const {
  auto* branch = cast<BranchInst>(loop.header->getTerminator());
  IRBuilder<> ir(branch);
  BasicBlock* body = branch->getSuccessor(branch->getSuccessor(0) == loop.latch ? 1 : 0);
  Value* guard = nullptr;
  for (const auto& [value, wanted] : others) {
    Value* each = wanted ? value : ir.CreateNot(value);
    guard = guard == nullptr ? each : ir.CreateLogicalAnd(guard, each);
  }
  if (guard != nullptr) {
    ir.CreateCondBr(guard, body, loop.latch);
  } else {
    ir.CreateBr(body);
  }
  Value* condition = branch->getCondition();
  branch->eraseFromParent();
  RecursivelyDeleteTriviallyDeadInstructions(condition);
}

}  // namespace sluice::hostcuda::jit
