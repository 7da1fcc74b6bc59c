#include "hostcuda/jit/stretches/wide_tests.hpp"

#include <optional>

#include <llvm/IR/PatternMatch.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;
using namespace llvm::PatternMatch;

constexpr uint64_t most_quick = 0xFFFFFFFF;

// What is tested, and whether the comparison is true where it has 32 bits.
std::optional<std::pair<Value*, bool>> tested(ICmpInst& compare) {
  const APInt* bound = nullptr;
  if (!compare.getOperand(0)->getType()->isIntegerTy(64) ||
      !match(compare.getOperand(1), m_APInt(bound)))
    return std::nullopt;
  const bool is_below = compare.getPredicate() == ICmpInst::ICMP_ULT && *bound == most_quick + 1;
  const bool is_above = compare.getPredicate() == ICmpInst::ICMP_UGT && *bound == most_quick;
  if (!is_below && !is_above) return std::nullopt;
  return std::pair{compare.getOperand(0), is_below};
}

}  // namespace

WideTests::WideTests(const CountedLoop& loop, ScalarEvolution& evolution) {
  for (BasicBlock* block : loop.loop->blocks()) {
    for (Instruction& instruction : *block) {
      auto* compare = dyn_cast<ICmpInst>(&instruction);
      const auto found = compare ? tested(*compare) : std::nullopt;
      if (!found) continue;
      Test test{.compare = compare, .passes = found->second};
      Value* dividend = found->first;
      Value* one = nullptr;
      Value* other = nullptr;
      if (match(dividend, m_Or(m_Value(one), m_Value(other)))) {
        test.divisor = loop.loop->isLoopInvariant(one) ? one : other;
        dividend = test.divisor == one ? other : one;
        if (!loop.loop->isLoopInvariant(test.divisor)) continue;
      }
      Value* narrow = nullptr;
      if (match(dividend, m_ZExt(m_Value(narrow)))) {
        test.width = Width::extended_zeros;
      } else if (match(dividend, m_SExt(m_Value(narrow)))) {
        test.width = Width::extended_sign;
      }
      if (narrow && !narrow->getType()->isIntegerTy(32)) continue;
      test.start = loop.start_of(narrow ? narrow : dividend, 1, evolution);
      if (test.start) tests_.push_back(test);
    }
  }
}

Value* WideTests::may_fail(IRBuilder<>& ir, Value* last_round,
                           function_ref<Value*(const SCEV*)> expand) const {
  Value* any = nullptr;
  const auto add = [&](Value* fails) { any = any ? ir.CreateOr(any, fails) : fails; };
  for (const Test& test : tests_) {
    if (test.divisor) add(ir.CreateICmpUGT(ir.CreateFreeze(test.divisor), ir.getInt64(most_quick)));
    if (test.width == Width::extended_zeros) continue;
    // A number that counts past 2^31 goes on below zero.
    const uint64_t most = test.width == Width::extended_sign ? most_quick / 2 : most_quick;
    Value* start = ir.CreateZExt(expand(test.start), ir.getInt64Ty());
    add(ir.CreateICmpUGT(start, ir.CreateSub(ir.getInt64(most), last_round)));
  }
  return any;
}

void WideTests::pass_all() const {
  for (const Test& test : tests_) {
    test.compare->replaceAllUsesWith(ConstantInt::getBool(test.compare->getContext(), test.passes));
    test.compare->eraseFromParent();
  }
}

}  // namespace sluice::hostcuda::jit
