#include "hostcuda/jit/object/thread_bounds.hpp"

#include <utility>

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Comparison holds where (start + round) predicate limit, all of 32 bits.
struct Comparison {
  const SCEV* start;
  CmpInst::Predicate predicate;
  Value* limit;
};

// Guard is a conjunction.
struct Guard {
  SmallVector<Comparison, 4> comparisons;
  SmallVector<std::pair<Value*, bool>, 2> others;  // and what they must be
};

constexpr uint64_t half = uint64_t{1} << 31U;

// Stretch is a run of rounds [start, end), of 64 bits, in which no sum crosses a multiple of 2^31:
// there both orders of 32-bit numbers are those of the rounds.
struct Stretch {
  Value* start = nullptr;
  Value* end = nullptr;
  Value* first = nullptr;  // of the rounds that the guard lets through
  Value* last = nullptr;   // behind them

  // bound() lets through the rounds in which (sum + round) predicate limit.
  void bound(IRBuilder<>& ir, Value* sum, CmpInst::Predicate predicate, Value* limit) {
    Value* at_start = ir.CreateAdd(sum, ir.CreateTrunc(start, ir.getInt32Ty()));
    const bool is_signed = CmpInst::isSigned(predicate);
    const auto wide = [&](Value* value) {
      return is_signed ? ir.CreateSExt(value, ir.getInt64Ty())
                       : ir.CreateZExt(value, ir.getInt64Ty());
    };
    Value* equal = ir.CreateAdd(start, ir.CreateSub(wide(limit), wide(at_start)));
    Value* beyond = ir.CreateAdd(equal, ir.getInt64(1));
    switch (is_signed ? ICmpInst::getUnsignedPredicate(predicate) : predicate) {
      case CmpInst::ICMP_ULT:
        return end_at(ir, equal);
      case CmpInst::ICMP_ULE:
        return end_at(ir, beyond);
      case CmpInst::ICMP_UGT:
        return begin_at(ir, beyond);
      case CmpInst::ICMP_UGE:
        return begin_at(ir, equal);
      default:
        begin_at(ir, equal);
        return end_at(ir, beyond);
    }
  }
  void begin_at(IRBuilder<>& ir, Value* round) {
    first = ir.CreateBinaryIntrinsic(Intrinsic::smax, first, round);
  }
  void end_at(IRBuilder<>& ir, Value* round) {
    last = ir.CreateBinaryIntrinsic(Intrinsic::smin, last, round);
  }
};

// GuardedLoop is a loop whose rounds do nothing but under a guard.
class GuardedLoop {
 public:
  GuardedLoop(Loop& loop, ScalarEvolution& evolution) : loop_(loop), evolution_(evolution) {}

  // find() says whether it is one, and its guard bounds the rounds.
  bool find() {
    if (!loop_.isInnermost() || !loop_.isLoopSimplifyForm() ||
        findOptionMDForLoop(&loop_, "llvm.loop.parallel_accesses") == nullptr)
      return false;
    header_ = loop_.getHeader();
    latch_ = loop_.getLoopLatch();
    exit_ = loop_.getUniqueExitBlock();
    if (header_ == latch_ || exit_ == nullptr || loop_.getExitingBlock() != latch_) return false;
    branch_ = dyn_cast<BranchInst>(header_->getTerminator());
    if (branch_ == nullptr || !branch_->isConditional()) return false;
    const bool skips_where_false = branch_->getSuccessor(1) == latch_;
    if (!skips_where_false && branch_->getSuccessor(0) != latch_) return false;
    if (!counts_rounds() || !does_nothing_else() || is_used_behind()) return false;
    take(branch_->getCondition(), skips_where_false);
    return !guard_.comparisons.empty() && is_expandable();
  }

  void narrow();

 private:
  using Ir = IRBuilder<>;

  // counts_rounds() holds where the loop's only value from round to round is 0, 1, 2 ...
  bool counts_rounds() {
    if (!hasSingleElement(header_->phis())) return false;
    index_ = &*header_->phis().begin();
    const Type* type = index_->getType();
    if (!type->isIntegerTy(32) && !type->isIntegerTy(64)) return false;
    const auto* rounds = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(index_));
    if (rounds == nullptr || !rounds->getStart()->isZero() ||
        !rounds->getStepRecurrence(evolution_)->isOne())
      return false;
    next_ = dyn_cast<Instruction>(index_->getIncomingValueForBlock(latch_));
    last_round_ = evolution_.getBackedgeTakenCount(&loop_);
    return next_ != nullptr && !isa<SCEVCouldNotCompute>(last_round_);
  }

  bool does_nothing_else() const {
    if (isa<PHINode>(latch_->front())) return false;
    for (const BasicBlock* block : {header_, latch_}) {
      for (const Instruction& instruction : *block) {
        if (instruction.mayHaveSideEffects()) return false;
      }
    }
    return true;
  }

  bool is_used_behind() const {
    return any_of(loop_.blocks(), [&](const BasicBlock* block) {
      return any_of(*block, [&](const Instruction& instruction) {
        return any_of(instruction.users(), [&](const User* user) {
          return !loop_.contains(cast<Instruction>(user)->getParent());
        });
      });
    });
  }

  // take() takes apart what must be `wanted`.
  void take(Value* value, bool wanted) {
    using namespace PatternMatch;
    Value* a = nullptr;
    Value* b = nullptr;
    if (wanted ? match(value, m_LogicalAnd(m_Value(a), m_Value(b)))
               : match(value, m_LogicalOr(m_Value(a), m_Value(b)))) {
      take(a, wanted);
      take(b, wanted);
    } else if (auto* compare = dyn_cast<ICmpInst>(value); !compare || !take(*compare, wanted)) {
      guard_.others.push_back({value, wanted});
    }
  }

  bool take(ICmpInst& compare, bool wanted) {
    CmpInst::Predicate predicate = wanted ? compare.getPredicate() : compare.getInversePredicate();
    Value* index = compare.getOperand(0);
    Value* limit = compare.getOperand(1);
    if (loop_.isLoopInvariant(index)) {
      std::swap(index, limit);
      predicate = CmpInst::getSwappedPredicate(predicate);
    }
    if (predicate == CmpInst::ICMP_NE || !loop_.isLoopInvariant(limit) ||
        !limit->getType()->isIntegerTy(32))
      return false;
    const auto* sum = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(index));
    if (sum == nullptr || sum->getLoop() != &loop_ || !sum->isAffine() ||
        !sum->getStepRecurrence(evolution_)->isOne())
      return false;
    guard_.comparisons.push_back({sum->getStart(), predicate, limit});
    return true;
  }

  bool is_expandable() const {
    const SCEVExpander expander(evolution_, header_->getDataLayout(), "bounds");
    return expander.isSafeToExpand(last_round_) &&
           all_of(guard_.comparisons,
                  [&](const Comparison& each) { return expander.isSafeToExpand(each.start); });
  }

  // Inputs are what the bounds are computed from, in front of the loop.
  struct Inputs {
    Value* rounds = nullptr;              // of 64 bits
    MapVector<const SCEV*, Value*> sums;  // those of round 0, by their start
    SmallVector<Value*, 4> limits;        // of the comparisons
  };
  Inputs expand_inputs(Instruction* place);
  Stretch open_stretch(Ir& ir, PHINode* start, const Inputs& inputs);
  void end_rounds_at(Value* last, BasicBlock* leave) const;
  void keep_other_guards() const;

  Loop& loop_;
  ScalarEvolution& evolution_;
  BasicBlock* header_ = nullptr;
  BasicBlock* latch_ = nullptr;
  BasicBlock* exit_ = nullptr;
  BranchInst* branch_ = nullptr;
  PHINode* index_ = nullptr;
  Instruction* next_ = nullptr;
  const SCEV* last_round_ = nullptr;
  Guard guard_;
};

// What the guard skipped may be poison: so each value is frozen.
GuardedLoop::Inputs GuardedLoop::expand_inputs(Instruction* place) {
  SCEVExpander expander(evolution_, header_->getDataLayout(), "bounds");
  Ir ir(place);
  const auto expand = [&](const SCEV* value) {
    Value* expanded = expander.expandCodeFor(value, value->getType(), place);
    ir.SetInsertPoint(place);
    return ir.CreateFreeze(expanded);
  };
  Inputs inputs;
  Value* last_round = ir.CreateZExtOrTrunc(expand(last_round_), ir.getInt64Ty());
  inputs.rounds = ir.CreateAdd(last_round, ir.getInt64(1));
  for (const Comparison& comparison : guard_.comparisons) {
    Value*& sum = inputs.sums[comparison.start];
    if (sum == nullptr) sum = expand(comparison.start);
    inputs.limits.push_back(ir.CreateFreeze(comparison.limit));
  }
  return inputs;
}

Stretch GuardedLoop::open_stretch(Ir& ir, PHINode* start, const Inputs& inputs) {
  Stretch stretch{start, inputs.rounds};
  for (const auto& [unused, sum] : inputs.sums) {
    Value* at_start = ir.CreateAdd(ir.CreateZExt(sum, ir.getInt64Ty()), start);
    Value* room = ir.CreateSub(ir.getInt64(half), ir.CreateAnd(at_start, half - 1));
    stretch.end = ir.CreateBinaryIntrinsic(Intrinsic::smin, stretch.end, ir.CreateAdd(start, room));
  }
  stretch.first = start;
  stretch.last = stretch.end;
  for (size_t i = 0; i < guard_.comparisons.size(); ++i) {
    const Comparison& comparison = guard_.comparisons[i];
    stretch.bound(ir, inputs.sums.lookup(comparison.start), comparison.predicate, inputs.limits[i]);
  }
  return stretch;
}

void GuardedLoop::narrow() {
  LLVMContext& context = header_->getContext();
  Function* function = header_->getParent();
  BasicBlock* before = loop_.getLoopPreheader();
  BasicBlock* stretch_block = BasicBlock::Create(context, "stretch", function, header_);
  BasicBlock* enter = BasicBlock::Create(context, "stretch.enter", function, header_);
  BasicBlock* leave = BasicBlock::Create(context, "stretch.leave", function, exit_);
  const Inputs inputs = expand_inputs(before->getTerminator());
  before->getTerminator()->replaceSuccessorWith(header_, stretch_block);

  Ir ir(stretch_block);
  PHINode* start = ir.CreatePHI(ir.getInt64Ty(), 2, "round");
  const Stretch stretch = open_stretch(ir, start, inputs);
  start->addIncoming(ir.getInt64(0), before);
  start->addIncoming(stretch.end, leave);
  ir.CreateCondBr(ir.CreateICmpSLT(stretch.first, stretch.last), enter, leave);

  ir.SetInsertPoint(enter);
  Value* first = ir.CreateTrunc(stretch.first, index_->getType());
  Value* last = ir.CreateTrunc(stretch.last, index_->getType());
  ir.CreateBr(header_);
  index_->setIncomingValueForBlock(before, first);
  index_->replaceIncomingBlockWith(before, enter);
  end_rounds_at(last, leave);

  ir.SetInsertPoint(leave);
  ir.CreateCondBr(ir.CreateICmpSLT(stretch.end, inputs.rounds), stretch_block, exit_);
  exit_->replacePhiUsesWith(latch_, leave);
  keep_other_guards();
}

void GuardedLoop::end_rounds_at(Value* last, BasicBlock* leave) const {
  auto* back = cast<BranchInst>(latch_->getTerminator());
  Value* old_condition = back->getCondition();
  back->setCondition(Ir(back).CreateICmpNE(next_, last));
  back->setSuccessor(0, header_);
  back->setSuccessor(1, leave);
  RecursivelyDeleteTriviallyDeadInstructions(old_condition);
}

void GuardedLoop::keep_other_guards() const {
  Ir ir(branch_);
  BasicBlock* body = branch_->getSuccessor(branch_->getSuccessor(0) == latch_ ? 1 : 0);
  Value* guard = nullptr;
  for (const auto& [value, wanted] : guard_.others) {
    Value* each = wanted ? value : ir.CreateNot(value);
    guard = guard == nullptr ? each : ir.CreateLogicalAnd(guard, each);
  }
  if (guard != nullptr) {
    ir.CreateCondBr(guard, body, latch_);
  } else {
    ir.CreateBr(body);
  }
  Value* condition = branch_->getCondition();
  branch_->eraseFromParent();
  RecursivelyDeleteTriviallyDeadInstructions(condition);
}

}  // namespace

PreservedAnalyses ThreadBoundsPass::run(Function& function, FunctionAnalysisManager& analyses) {
  bool any = false;
  // Narrowing one loop changes what dominates what, on which the search for the next one relies.
  const auto narrow_one = [&] {
    ScalarEvolution& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    for (Loop* loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
      GuardedLoop candidate(*loop, evolution);
      if (!candidate.find()) continue;
      candidate.narrow();
      return true;
    }
    return false;
  };
  while (narrow_one()) {
    any = true;
    analyses.invalidate(function, PreservedAnalyses::none());
  }
  return any ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace sluice::hostcuda::jit
