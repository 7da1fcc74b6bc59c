#include "hostcuda/jit/lockstep/uniform_ends.hpp"

#include <optional>
#include <utility>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/MathExtras.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;
using namespace llvm::PatternMatch;

// Rest is a value without the lowest `bits`, which are a thread's number in its warp or block.
struct Rest {
  Value* value = nullptr;
  unsigned bits = 0;
};

// Bound is that of a comparison (variable predicate limit) which asks whether the variable is below
// the limit, or is not.
struct Bound {
  CmpInst::Predicate predicate = CmpInst::BAD_ICMP_PREDICATE;
  APInt limit;
};

std::optional<Bound> bound_of(const ICmpInst& compare) {
  const auto* limit = dyn_cast<ConstantInt>(compare.getOperand(1));
  if (!limit) return std::nullopt;
  const APInt& number = limit->getValue();
  const CmpInst::Predicate predicate = compare.getPredicate();
  if (ICmpInst::isLT(predicate) || ICmpInst::isGE(predicate)) return Bound{predicate, number};
  if (!ICmpInst::isGT(predicate) && !ICmpInst::isLE(predicate)) return std::nullopt;
  const bool is_last = compare.isSigned() ? number.isMaxSignedValue() : number.isMaxValue();
  if (is_last) return std::nullopt;
  return Bound{CmpInst::getFlippedStrictnessPredicate(predicate), number + 1};
}

class Ends {
 public:
  Ends(Function& function, const Dim3& block)
      : tid_x_(function.getArg(ThreadFunction::tid)),
        layout_(function.getParent()->getDataLayout()),
        bits_of_block_(isPowerOf2_32(block.x) ? Log2_32(block.x) : 0) {}

  void make_uniform(const Loop& loop) const {
    BasicBlock* latch = loop.getLoopLatch();
    BasicBlock* before = loop.getLoopPreheader();
    auto* branch = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
    auto* compare = before && branch && branch->isConditional()
                        ? dyn_cast<ICmpInst>(branch->getCondition())
                        : nullptr;
    if (!compare) return;
    const std::optional<Bound> bound = bound_of(*compare);
    auto* variable = compare->getOperand(0);
    PHINode* phi = dyn_cast<PHINode>(variable);
    const APInt* step = nullptr;
    Value* before_step = nullptr;
    const bool is_next = !phi && match(variable, m_Add(m_Value(before_step), m_APInt(step)));
    if (is_next) phi = dyn_cast<PHINode>(before_step);
    if (!bound || !phi || phi->getParent() != loop.getHeader() || phi->getNumIncomingValues() != 2)
      return;
    Value* next = phi->getIncomingValueForBlock(latch);
    if (!match(next, m_Add(m_Specific(phi), m_APInt(step))) || (is_next && next != variable))
      return;
    IRBuilder<> ir(before->getTerminator());
    const std::optional<Rest> start = rest_of(phi->getIncomingValueForBlock(before), ir);
    if (!start || bound->limit.countr_zero() < start->bits || step->countr_zero() < start->bits)
      return;
    ir.SetInsertPoint(phi->getIterator());
    PHINode* shared = ir.CreatePHI(phi->getType(), 2, "shared");
    ir.SetInsertPoint(branch);
    Value* shared_next = ir.CreateAdd(shared, ConstantInt::get(phi->getType(), *step));
    shared->addIncoming(start->value, before);
    shared->addIncoming(shared_next, latch);
    branch->setMetadata(shared_end, MDNode::get(branch->getContext(), {}));
    branch->setCondition(ir.CreateICmp(bound->predicate, is_next ? shared_next : shared,
                                       ConstantInt::get(phi->getType(), bound->limit)));
  }

 private:
  std::optional<Rest> rest_of(Value* value, IRBuilder<>& ir) const {
    Type* type = value->getType();
    if (value == tid_x_ && bits_of_block_ > 0)
      return Rest{ConstantInt::get(type, 0), bits_of_block_};
    if (match(value, m_And(m_Specific(tid_x_), m_SpecificInt(31))))
      return Rest{ConstantInt::get(type, 0), 5};
    Value* part = nullptr;
    Value* other = nullptr;
    if (match(value, m_ZExt(m_Value(part)))) {
      const std::optional<Rest> rest = rest_of(part, ir);
      return rest ? std::optional<Rest>({ir.CreateZExt(rest->value, type), rest->bits})
                  : std::nullopt;
    }
    if (!match(value, m_CombineOr(m_Add(m_Value(part), m_Value(other)),
                                  m_Or(m_Value(part), m_Value(other)))))
      return std::nullopt;
    for (int turn = 0; turn < 2; ++turn, std::swap(part, other)) {
      const std::optional<Rest> rest = rest_of(part, ir);
      if (!rest || computeKnownBits(other, layout_).countMinTrailingZeros() < rest->bits) continue;
      const auto operation = cast<BinaryOperator>(value)->getOpcode();
      return Rest{ir.CreateBinOp(operation, rest->value, other), rest->bits};
    }
    return std::nullopt;
  }

  Value* tid_x_;
  const DataLayout& layout_;
  unsigned bits_of_block_;
};

}  // namespace

void make_ends_uniform(Function& function, const Dim3& block) {
  const DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  const Ends ends(function, block);
  for (const Loop* loop : loops.getLoopsInPreorder())
    ends.make_uniform(*loop);
}

}  // namespace sluice::hostcuda::jit
