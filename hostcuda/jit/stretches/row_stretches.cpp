#include "hostcuda/jit/stretches/row_stretches.hpp"

#include <optional>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "hostcuda/jit/stretches/counted_loop.hpp"
#include "hostcuda/jit/stretches/wide_tests.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Rows shorter than four vectors of floats are not worth a stretch of their own.
constexpr uint64_t least_width = 64;
constexpr size_t most_divisions = 8;
constexpr uint64_t half_range = uint64_t{1} << 31U;
// The mark of divisions in the loop that stays as it was.
constexpr const char* kept_mark = "sluice.kept.division";

// Division is one of a sum, (start + round), by what is the same in all rounds.
struct Division {
  BinaryOperator* operation = nullptr;
  const SCEV* start = nullptr;
  Value* divisor = nullptr;
  bool is_signed = false;
  bool is_quotient = false;
};

std::optional<Division> division(Instruction& instruction, const CountedLoop& loop,
                                 ScalarEvolution& evolution) {
  const unsigned opcode = instruction.getOpcode();
  Division found{dyn_cast<BinaryOperator>(&instruction)};
  found.is_quotient = opcode == Instruction::UDiv || opcode == Instruction::SDiv;
  found.is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  const bool is_division =
      found.is_quotient || opcode == Instruction::URem || opcode == Instruction::SRem;
  if (!is_division || !instruction.getType()->isIntegerTy(32) ||
      instruction.hasMetadata(kept_mark)) {
    return std::nullopt;
  }
  found.divisor = instruction.getOperand(1);
  auto* constant = dyn_cast<ConstantInt>(found.divisor);
  const bool is_small =
      constant && (found.is_signed ? constant->getSExtValue() < int64_t(least_width)
                                   : constant->getZExtValue() < least_width);
  if (is_small || !loop.loop->isLoopInvariant(found.divisor)) return std::nullopt;
  found.start = loop.start_of(instruction.getOperand(0), 1, evolution);
  return found.start ? std::optional(found) : std::nullopt;
}

class RowLoop {
 public:
  RowLoop(const CountedLoop& loop, ScalarEvolution& evolution)
      : loop_(loop), evolution_(evolution), wide_tests_(loop, evolution) {
    for (BasicBlock* block : loop.loop->blocks()) {
      for (Instruction& instruction : *block) {
        if (const auto found = division(instruction, loop, evolution)) divisions_.push_back(*found);
      }
    }
  }

  // The next round's index is used for its count and the test of its end alone.
  bool has_rows() const {
    return !divisions_.empty() && divisions_.size() <= most_divisions &&
           !loop_.next->hasNUsesOrMore(3);
  }

  void stretch() {
    LLVMContext& context = loop_.header->getContext();
    Function* function = loop_.header->getParent();
    BasicBlock* before = loop_.loop->getLoopPreheader();
    BasicBlock* row = BasicBlock::Create(context, "row", function, loop_.header);
    BasicBlock* leave = BasicBlock::Create(context, "row.leave", function, loop_.exit);
    expand_inputs(before->getTerminator());
    if (keeps_) keep_as_it_was(before);
    wide_tests_.pass_all();
    before->getTerminator()->replaceSuccessorWith(loop_.header, row);

    IRBuilder<> ir(row);
    PHINode* start = ir.CreatePHI(ir.getInt64Ty(), 2, "row.start");
    Value* end = rounds_;
    for (size_t i = 0; i < divisions_.size(); ++i)
      end = ir.CreateBinaryIntrinsic(Intrinsic::smin, end, divide(ir, i, start));
    start->addIncoming(ir.getInt64(0), before);
    start->addIncoming(end, leave);
    ir.CreateBr(loop_.header);
    carry_on(before, row, leave);
    count_on_from(before, start, end, row, leave);

    ir.SetInsertPoint(leave);
    ir.CreateCondBr(ir.CreateICmpSLT(end, rounds_), row, loop_.exit);
    loop_.exit->replacePhiUsesWith(loop_.latch, leave);
  }

 private:
  // What stretches are computed from, in front of the loop. The guard of a division may have
  // skipped it, and then its operands may be poison.
  void expand_inputs(Instruction* place) {
    SCEVExpander expander(evolution_, loop_.header->getDataLayout(), "row");
    IRBuilder<> ir(place);
    const auto expand = [&](const SCEV* value) {
      Value* expanded = expander.expandCodeFor(value, value->getType(), place);
      ir.SetInsertPoint(place);
      return ir.CreateFreeze(expanded);
    };
    Value* last_round = ir.CreateZExtOrTrunc(expand(loop_.last_round), ir.getInt64Ty());
    rounds_ = ir.CreateAdd(last_round, ir.getInt64(1));
    keeps_ = wide_tests_.may_fail(ir, last_round, expand);
    for (Division& each : divisions_) {
      starts_.push_back(expand(each.start));
      if (isa<ConstantInt>(each.divisor)) continue;
      each.divisor = ir.CreateFreeze(each.divisor);
      Value* least = ir.getInt32(least_width);
      Value* is_small = each.is_signed ? ir.CreateICmpSLT(each.divisor, least)
                                       : ir.CreateICmpULT(each.divisor, least);
      keeps_ = keeps_ ? ir.CreateOr(keeps_, is_small) : is_small;
    }
  }

  // A copy of the loop for small divisors and wide numbers.
  void keep_as_it_was(BasicBlock* before) {
    ValueToValueMapTy map;
    SmallVector<BasicBlock*, 8> copies;
    for (BasicBlock* block : loop_.loop->blocks()) {
      BasicBlock* copy = CloneBasicBlock(block, map, ".kept", loop_.header->getParent());
      map[block] = copy;
      copies.push_back(copy);
    }
    remapInstructionsInBlocks(copies, map);
    for (const Division& each : divisions_)
      cast<Instruction>(map.lookup(each.operation))
          ->setMetadata(kept_mark, MDNode::get(before->getContext(), {}));
    for (PHINode& phi : loop_.exit->phis()) {
      Value* value = phi.getIncomingValueForBlock(loop_.latch);
      Value* copied = map.lookup(value);
      phi.addIncoming(copied ? copied : value, cast<BasicBlock>(map.lookup(loop_.latch)));
    }
    Instruction* old = before->getTerminator();
    IRBuilder<>(old).CreateCondBr(keeps_, cast<BasicBlock>(map.lookup(loop_.header)), loop_.header);
    old->eraseFromParent();
  }

  // The quotient and the rest at the stretch's start; returns the round at which another quotient
  // begins, or the sum crosses a multiple of 2^31.
  Value* divide(IRBuilder<>& ir, size_t i, Value* start) {
    const Division& each = divisions_[i];
    Value* sum = ir.CreateAdd(starts_[i], ir.CreateTrunc(start, ir.getInt32Ty()));
    Value* quotient =
        each.is_signed ? ir.CreateSDiv(sum, each.divisor) : ir.CreateUDiv(sum, each.divisor);
    Value* rest = ir.CreateSub(sum, ir.CreateMul(quotient, each.divisor));
    quotients_.push_back(quotient);
    rests_.push_back(rest);
    Value* room = ir.CreateSub(each.divisor, rest);
    if (each.is_signed) {
      // Below zero a quotient is the same up to its multiple.
      Value* below = ir.CreateICmpSLT(sum, ir.getInt32(0));
      room = ir.CreateSelect(below, ir.CreateSub(ir.getInt32(1), rest), room);
    }
    Value* to_half = ir.CreateSub(
        ir.getInt64(half_range), ir.CreateAnd(ir.CreateZExt(sum, ir.getInt64Ty()), half_range - 1));
    Value* least =
        ir.CreateBinaryIntrinsic(Intrinsic::smin, ir.CreateZExt(room, ir.getInt64Ty()), to_half);
    return ir.CreateAdd(start, least);
  }

  // What the lifter does for divisors of 0 and -1 (ptx/lift.hpp) is for others. A divisor that is
  // not small is the number that it was made of.
  void forget_small(Value* divisor, bool is_signed) {
    while (true) {
      for (User* user : make_early_inc_range(divisor->users())) {
        ICmpInst::Predicate predicate;
        const APInt* number = nullptr;
        using namespace PatternMatch;
        const bool is_test = match(user, m_ICmp(predicate, m_Specific(divisor), m_APInt(number))) &&
                             predicate == ICmpInst::ICMP_EQ &&
                             (number->isZero() || (is_signed && number->isAllOnes()));
        if (!is_test) continue;
        for (User* chosen : make_early_inc_range(user->users())) {
          auto* select = dyn_cast<SelectInst>(chosen);
          if (!select || select->getCondition() != user || !loop_.loop->contains(select)) continue;
          select->replaceAllUsesWith(select->getFalseValue());
          select->eraseFromParent();
        }
      }
      divisor = made_of(divisor);
      if (!divisor) return;
    }
  }

  // What a divisor that is not small was made of, where it is the same number: of a choice between
  // a small one and another, or the greater of them. Null where nothing is known.
  static Value* made_of(Value* divisor) {
    const auto is_small = [](Value* value) {
      auto* constant = dyn_cast<ConstantInt>(value);
      return constant && constant->getValue().ult(least_width);
    };
    if (auto* select = dyn_cast<SelectInst>(divisor))
      return is_small(select->getTrueValue()) ? select->getFalseValue() : nullptr;
    if (auto* greater = dyn_cast<MinMaxIntrinsic>(divisor)) {
      const bool is_max = ICmpInst::isGT(greater->getPredicate());
      return is_max && is_small(greater->getRHS()) ? greater->getLHS() : nullptr;
    }
    auto* narrowed = dyn_cast<TruncInst>(divisor);
    return narrowed ? narrowed->getOperand(0) : nullptr;
  }

  // What the loop carries from round to round goes on from stretch to stretch.
  void carry_on(BasicBlock* before, BasicBlock* row, BasicBlock* leave) {
    for (PHINode& phi : loop_.header->phis()) {
      if (&phi == loop_.index) continue;
      PHINode* carried = PHINode::Create(phi.getType(), 2, "row.carried", row->begin());
      carried->addIncoming(phi.getIncomingValueForBlock(before), before);
      carried->addIncoming(phi.getIncomingValueForBlock(loop_.latch), leave);
      phi.setIncomingValueForBlock(before, carried);
      phi.replaceIncomingBlockWith(before, row);
    }
  }

  // In a stretch the loop counts from 0 again.
  void count_on_from(BasicBlock* before, Value* start, Value* end, BasicBlock* row,
                     BasicBlock* leave) {
    IRBuilder<> at_end(row->getTerminator());
    Type* type = loop_.index->getType();
    Value* first = at_end.CreateTrunc(start, type);
    Value* of_loop = loop_.index->getIncomingValueForBlock(before);
    if (!match(of_loop, PatternMatch::m_Zero())) first = at_end.CreateAdd(first, of_loop);
    Value* count = at_end.CreateTrunc(at_end.CreateSub(end, start), type);
    IRBuilder<> ir(&*loop_.header->getFirstInsertionPt());
    Value* index = ir.CreateAdd(first, loop_.index, "index", loop_.next->hasNoUnsignedWrap());
    loop_.index->replaceUsesWithIf(index, [&](const Use& use) {
      return use.getUser() != index && use.getUser() != loop_.next;
    });
    Value* round = ir.CreateZExtOrTrunc(loop_.index, ir.getInt32Ty());
    for (size_t i = 0; i < divisions_.size(); ++i) {
      Value* value =
          divisions_[i].is_quotient ? quotients_[i] : ir.CreateAdd(rests_[i], round, "rest");
      forget_small(divisions_[i].operation->getOperand(1), divisions_[i].is_signed);
      divisions_[i].operation->replaceAllUsesWith(value);
      divisions_[i].operation->eraseFromParent();
    }
    loop_.index->replaceIncomingBlockWith(before, row);
    loop_.run_between(row, ConstantInt::get(type, 0), count, leave);
  }

  const CountedLoop& loop_;
  ScalarEvolution& evolution_;
  SmallVector<Division, 4> divisions_;
  Value* rounds_ = nullptr;  // of 64 bits
  SmallVector<Value*, 4> starts_, quotients_, rests_;
  WideTests wide_tests_;
  Value* keeps_ = nullptr;  // whether the loop stays as it was
};

}  // namespace

PreservedAnalyses RowStretchesPass::run(Function& function, FunctionAnalysisManager& analyses) {
  PreservedAnalyses kept =
      change_counted_loops(function, analyses, {.may_carry = true},
                           [](const CountedLoop& loop, ScalarEvolution& evolution) {
                             RowLoop rows(loop, evolution);
                             if (!rows.has_rows()) return false;
                             rows.stretch();
                             return true;
                           });
  if (!kept.areAllPreserved()) removeUnreachableBlocks(function);
  return kept;
}

}  // namespace sluice::hostcuda::jit
