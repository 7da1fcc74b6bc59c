#include "analysis/rewrite/legibility.hpp"

#include <optional>
#include <utility>

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include "analysis/rewrite/magic_division.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;
using namespace llvm::PatternMatch;
using Wide = __int128;

using Range = IntegerRange;

class Rewriter {
 public:
  Rewriter(Function& function, ScalarEvolution& evolution)
      : function_(function),
        evolution_(evolution),
        magic_([this](Value* value) { return range(value); },
               [this](Value* value) { return original(value); }) {}

  void run() {
    // Values are rewritten before what uses them. Replaced instructions stay until the end, since
    // the ranges are known of the old code only.
    ReversePostOrderTraversal<Function*> order(&function_);
    for (BasicBlock* block : order) {
      for (Instruction& instruction : make_early_inc_range(*block)) {
        if (Value* value = rewritten(instruction)) replace(instruction, value);
      }
    }
    for (BasicBlock* block : order)
      rewrite_conditions(*block);
    for (Instruction* instruction : reverse(replaced_)) {
      if (instruction->use_empty()) instruction->eraseFromParent();
    }
  }

 private:
  std::optional<Range> range(Value* value) {
    auto* type = dyn_cast<IntegerType>(value->getType());
    if (type == nullptr || type->getBitWidth() > 64) return std::nullopt;
    const ConstantRange range = evolution_.getSignedRange(evolution_.getSCEV(original(value)));
    return Range{range.getSignedMin().getSExtValue(), range.getSignedMax().getSExtValue()};
  }
  Value* original(Value* value) const {
    const auto found = original_.find(value);
    return found == original_.end() ? value : found->second;
  }
  bool is_non_negative(Value* value) {
    const auto known = range(value);
    return known && known->low >= 0;
  }
  bool is_negative(Value* value) {
    const auto known = range(value);
    return known && known->high < 0;
  }

  void replace(Instruction& instruction, Value* value) {
    original_[value] = original(&instruction);
    instruction.replaceAllUsesWith(value);
    replaced_.push_back(&instruction);
  }

  Value* rewritten(Instruction& instruction) {
    if (!instruction.getType()->isIntegerTy()) return nullptr;
    if (const auto known = range(&instruction); known && known->low == known->high) {
      return ConstantInt::getSigned(instruction.getType(), int64_t(known->low));
    }
    if (auto* minmax = dyn_cast<MinMaxIntrinsic>(&instruction)) return rewritten_minmax(*minmax);
    if (Value* quotient = magic_.quotient(instruction)) return quotient;
    Value* x = nullptr;
    const APInt* constant = nullptr;
    IRBuilder<> builder(&instruction);
    if (match(&instruction, m_AShr(m_Value(x), m_APInt(constant)))) {
      return floor_shift(builder, x, *constant);
    }
    if (match(&instruction, m_And(m_Value(x), m_LowBitMask(constant)))) {
      return remainder(builder, x, constant->countr_one());
    }
    if (match(&instruction, m_URem(m_Value(x), m_Power2(constant))) && is_non_negative(x)) {
      return remainder(builder, x, constant->logBase2());
    }
    if (instruction.getOpcode() == Instruction::Or) {
      if (Value* sum = rewritten_or(instruction)) return sum;
    }
    if (match(&instruction, m_BitwiseLogic(m_Value(x), m_APInt(constant)))) {
      return bitwise(builder, instruction.getOpcode(), x, *constant);
    }
    return nullptr;
  }

  // bitwise() writes x & c as the sum of its fields, x | c as x + c - (x & c) and x ^ c as
  // x + c - 2 * (x & c).
  Value* bitwise(IRBuilder<>& builder, unsigned opcode, Value* x, const APInt& constant) {
    const auto known = range(x);
    const Wide limit = Wide(1) << (constant.getBitWidth() - 1);
    const Wide bits = constant.getZExtValue();
    if (!known || known->low < 0 || bits >= limit || known->high + bits >= limit) return nullptr;
    // Of data only the range counts, and that is best known of the mask itself.
    if (depends_on_data(x)) return nullptr;
    Value* common = masked(builder, x, constant);
    if (common == nullptr || opcode == Instruction::And) return common;
    Value* sum = builder.CreateAdd(x, ConstantInt::get(x->getType(), constant), "", false, true);
    Value* twice = builder.CreateMul(common, ConstantInt::get(x->getType(), 2), "", false, true);
    return builder.CreateSub(sum, opcode == Instruction::Or ? common : twice, "", false, true);
  }

  // depends_on_data() is true of what is no expression of arguments and loop counters.
  bool depends_on_data(Value* value) {
    return SCEVExprContains(evolution_.getSCEV(value), [](const SCEV* part) {
      auto* unknown = dyn_cast<SCEVUnknown>(part);
      return unknown != nullptr && !isa<Argument>(unknown->getValue());
    });
  }

  // masked() is x & mask, a difference of two quotients for each run of ones in the mask.
  Value* masked(IRBuilder<>& builder, Value* x, const APInt& mask) {
    constexpr unsigned most_runs = 3;
    const unsigned width = mask.getBitWidth();
    Value* sum = ConstantInt::get(x->getType(), 0);
    APInt rest = mask;
    for (unsigned runs = 0; !rest.isZero(); ++runs) {
      const unsigned low = rest.countr_zero();
      const unsigned high = low + rest.lshr(low).countr_one();
      if (runs == most_runs || high + 1 >= width) return nullptr;
      Value* below = low == 0 ? x : floor_shift(builder, x, APInt(width, low));
      Value* above = floor_shift(builder, x, APInt(width, high));
      if (below == nullptr || above == nullptr) return nullptr;
      const auto scaled = [&](Value* value, unsigned bits) {
        return builder.CreateMul(value, ConstantInt::get(x->getType(), uint64_t(1) << bits), "",
                                 false, true);
      };
      sum = builder.CreateAdd(
          sum, builder.CreateSub(scaled(below, low), scaled(above, high), "", false, true), "",
          false, true);
      rest &= ~APInt::getBitsSet(width, low, high);
    }
    return sum;
  }

  // rewritten_or() is the sum of two numbers that have no bit in common.
  Value* rewritten_or(Instruction& instruction) {
    Value *a = instruction.getOperand(0), *b = instruction.getOperand(1);
    const SimplifyQuery query(function_.getParent()->getDataLayout());
    if (!haveNoCommonBitsSet(original(a), original(b), query)) return nullptr;
    return BinaryOperator::CreateDisjoint(Instruction::Or, a, b, "", &instruction);
  }

  Value* rewritten_minmax(MinMaxIntrinsic& minmax) {
    const Intrinsic::ID id = minmax.getIntrinsicID();
    if (id != Intrinsic::umin && id != Intrinsic::umax) return nullptr;
    if (!is_non_negative(minmax.getLHS()) || !is_non_negative(minmax.getRHS())) return nullptr;
    IRBuilder<> builder(&minmax);
    return builder.CreateBinaryIntrinsic(id == Intrinsic::umin ? Intrinsic::smin : Intrinsic::smax,
                                         minmax.getLHS(), minmax.getRHS());
  }

  // floor_shift() is x >> shift, rounded down, as an unsigned division. A negative x is lifted
  // above zero by a multiple of the divisor.
  Value* floor_shift(IRBuilder<>& builder, Value* x, const APInt& shift) {
    const auto known = range(x);
    const unsigned width = x->getType()->getIntegerBitWidth();
    if (!known || shift.uge(width - 1)) return nullptr;
    const Wide divisor = Wide(1) << shift.getZExtValue();
    const Wide lift = known->low >= 0 ? 0 : (-known->low + divisor - 1) / divisor * divisor;
    const Wide limit = Wide(1) << (width - 1);
    if (lift >= limit || known->high + lift >= limit) return nullptr;
    const auto constant = [&](Wide value) {
      return ConstantInt::getSigned(x->getType(), int64_t(value));
    };
    Value* lifted = lift == 0 ? x : builder.CreateAdd(x, constant(lift), "", false, true);
    Value* quotient = builder.CreateUDiv(lifted, constant(divisor));
    return lift == 0 ? quotient
                     : builder.CreateSub(quotient, constant(lift / divisor), "", false, true);
  }

  // remainder() is the low `bits` bits of x as x minus a multiple of the divisor: scalar evolution
  // would make it a truncation, which Polly knows for a few bits only.
  Value* remainder(IRBuilder<>& builder, Value* x, unsigned bits) {
    const unsigned width = x->getType()->getIntegerBitWidth();
    if (bits == 0 || bits + 1 >= width) return nullptr;
    Value* quotient = floor_shift(builder, x, APInt(width, bits));
    if (quotient == nullptr) return nullptr;
    Value* divisor = ConstantInt::get(x->getType(), uint64_t(1) << bits);
    return builder.CreateSub(x, builder.CreateMul(quotient, divisor, "", false, true), "", false,
                             true);
  }

  void rewrite_conditions(BasicBlock& block) {
    for (Instruction& instruction : make_early_inc_range(block)) {
      auto* select = dyn_cast<SelectInst>(&instruction);
      auto* branch = dyn_cast<BranchInst>(&instruction);
      if (select && select->getCondition()->getType()->isIntegerTy(1) &&
          !select->getType()->isIntegerTy(1)) {
        IRBuilder<> builder(select);
        select->setCondition(condition(builder, select->getCondition(), false));
      } else if (branch && branch->isConditional()) {
        IRBuilder<> builder(branch);
        branch->setCondition(condition(builder, branch->getCondition(), false));
      }
    }
  }

  // condition() rebuilds a condition, or its opposite, of signed comparisons, `and` and `or`.
  Value* condition(IRBuilder<>& builder, Value* value, bool opposite, unsigned depth = 0) {
    Value *a = nullptr, *b = nullptr;
    if (depth < 16) {
      const auto both = [&](bool conjunction) {
        Value* left = condition(builder, a, opposite, depth + 1);
        Value* right = condition(builder, b, opposite, depth + 1);
        return conjunction != opposite ? builder.CreateAnd(left, right)
                                       : builder.CreateOr(left, right);
      };
      if (match(value, m_Not(m_Value(a)))) return condition(builder, a, !opposite, depth + 1);
      if (match(value, m_Freeze(m_Value(a)))) return condition(builder, a, opposite, depth + 1);
      if (match(value, m_LogicalAnd(m_Value(a), m_Value(b)))) return both(true);
      if (match(value, m_LogicalOr(m_Value(a), m_Value(b)))) return both(false);
      if (auto* compare = dyn_cast<ICmpInst>(value)) {
        return comparison(builder, *compare, opposite, depth);
      }
    }
    // Polly takes comparisons only.
    if (isa<ConstantInt>(value)) return opposite ? builder.CreateNot(value) : value;
    Value* number = builder.CreateZExt(value, builder.getInt32Ty());
    return builder.CreateICmp(opposite ? ICmpInst::ICMP_EQ : ICmpInst::ICMP_NE, number,
                              builder.getInt32(0));
  }

  Value* comparison(IRBuilder<>& builder, ICmpInst& compare, bool opposite, unsigned depth) {
    Value *a = compare.getOperand(0), *b = compare.getOperand(1);
    const auto predicate = opposite ? compare.getInversePredicate() : compare.getPredicate();
    Value* inner = nullptr;
    if (match(b, m_ZeroInt()) && ICmpInst::isEquality(predicate) &&
        (match(a, m_ZExtOrSExt(m_Value(inner))) ||
         match(a, m_Select(m_Value(inner), m_One(), m_ZeroInt()))) &&
        inner->getType()->isIntegerTy(1)) {
      return condition(builder, inner, predicate == ICmpInst::ICMP_EQ, depth + 1);
    }
    if (!a->getType()->isIntegerTy()) return builder.CreateICmp(predicate, a, b);
    if (a->getType()->isIntegerTy(1)) {
      // As a signed number, true is the smaller one.
      const auto of_numbers =
          ICmpInst::isSigned(predicate) ? ICmpInst::getSwappedPredicate(predicate) : predicate;
      return builder.CreateICmp(of_numbers, builder.CreateZExt(a, builder.getInt32Ty()),
                                builder.CreateZExt(b, builder.getInt32Ty()));
    }
    if (!ICmpInst::isUnsigned(predicate)) return builder.CreateICmp(predicate, a, b);
    if (ICmpInst::isGT(predicate) || ICmpInst::isGE(predicate)) std::swap(a, b);
    return below(builder, a, b, ICmpInst::isStrictPredicate(predicate), &compare, opposite);
  }

  // below() is unsigned a < b (or <=). Of two numbers the one with its sign bit set is the larger;
  // between equal signs the signed order holds.
  Value* below(IRBuilder<>& builder, Value* a, Value* b, bool strict, ICmpInst* compare,
               bool opposite) {
    Value* zero = ConstantInt::get(a->getType(), 0);
    Value* ordered = builder.CreateICmp(strict ? ICmpInst::ICMP_SLT : ICmpInst::ICMP_SLE, a, b);
    if (is_non_negative(b)) {
      if (is_non_negative(a)) return ordered;
      return builder.CreateAnd(builder.CreateICmpSGE(a, zero), ordered);
    }
    if (is_negative(b)) return builder.CreateOr(builder.CreateICmpSGE(a, zero), ordered);
    if (is_non_negative(a)) return builder.CreateOr(builder.CreateICmpSLT(b, zero), ordered);
    if (is_negative(a)) return builder.CreateAnd(builder.CreateICmpSLT(b, zero), ordered);
    return opposite ? builder.CreateICmp(compare->getInversePredicate(), compare->getOperand(0),
                                         compare->getOperand(1))
                    : compare;
  }

  Function& function_;
  ScalarEvolution& evolution_;
  DenseMap<Value*, Value*> original_;
  SmallVector<Instruction*> replaced_;
  MagicDivision magic_;
};

}  // namespace

void make_legible(llvm::Function& function, llvm::ScalarEvolution& evolution) {
  Rewriter(function, evolution).run();
}

}  // namespace sluice::analysis
