#include "hostcuda/jit/stretches/thread_stretches.hpp"

#include <optional>
#include <utility>

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "hostcuda/jit/stretches/counted_loop.hpp"
#include "hostcuda/jit/stretches/thread_guard.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;
using Ir = IRBuilder<>;

// Extension is the cast of a sum, (start + round), of 32 bits, to 64.
struct Extension {
  CastInst* cast = nullptr;
  const SCEV* start = nullptr;
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
  void bound(Ir& ir, Value* sum, CmpInst::Predicate predicate, Value* limit) {
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
  void begin_at(Ir& ir, Value* round) {
    first = ir.CreateBinaryIntrinsic(Intrinsic::smax, first, round);
  }
  void end_at(Ir& ir, Value* round) {
    last = ir.CreateBinaryIntrinsic(Intrinsic::smin, last, round);
  }
};

// StretchedLoop is a loop that counts its rounds from 0.
class StretchedLoop {
 public:
  StretchedLoop(const CountedLoop& loop, const ThreadGuard& guard, ScalarEvolution& evolution)
      : loop_(loop),
        guard_(guard),
        evolution_(evolution),
        expander_(evolution, loop.header->getDataLayout(), "stretch") {
    find_extensions();
  }

  void stretch();

 private:
  void find_extensions() {
    for (BasicBlock* block : loop_.loop->blocks()) {
      for (Instruction& instruction : *block) {
        if (!isa<SExtInst, ZExtInst>(instruction) || !instruction.getType()->isIntegerTy(64) ||
            !instruction.getOperand(0)->getType()->isIntegerTy(32))
          continue;
        // It needs no stretches to be seen that a sum which cannot wrap grows by one.
        if (isa<SCEVAddRecExpr>(evolution_.getSCEV(&instruction))) continue;
        const SCEV* start = loop_.start_of(instruction.getOperand(0), 1, evolution_);
        if (start != nullptr) extensions_.push_back({cast<CastInst>(&instruction), start});
      }
    }
  }

  // Inputs are what stretches are computed from, in front of the loop.
  struct Inputs {
    Value* rounds = nullptr;              // of 64 bits
    MapVector<const SCEV*, Value*> sums;  // those of round 0, by their start
    SmallVector<Value*, 4> limits;        // of the guard's comparisons
  };
  Inputs expand_inputs(Instruction* place);
  Stretch open_stretch(Ir& ir, PHINode* start, const Inputs& inputs);
  void extend_once(Ir& ir, Value* first, const Inputs& inputs);

  const CountedLoop& loop_;
  const ThreadGuard& guard_;
  ScalarEvolution& evolution_;
  SCEVExpander expander_;
  SmallVector<Extension, 8> extensions_;
};

// What the guard skipped may be poison: so each value is frozen.
StretchedLoop::Inputs StretchedLoop::expand_inputs(Instruction* place) {
  Ir ir(place);
  const auto expand = [&](const SCEV* value) {
    Value* expanded = expander_.expandCodeFor(value, value->getType(), place);
    ir.SetInsertPoint(place);
    return ir.CreateFreeze(expanded);
  };
  Inputs inputs;
  Value* last_round = ir.CreateZExtOrTrunc(expand(loop_.last_round), ir.getInt64Ty());
  inputs.rounds = ir.CreateAdd(last_round, ir.getInt64(1));
  const auto expand_sum = [&](const SCEV* start) {
    Value*& sum = inputs.sums[start];
    if (sum == nullptr) sum = expand(start);
  };
  for (const Comparison& comparison : guard_.comparisons) {
    expand_sum(comparison.start);
    inputs.limits.push_back(ir.CreateFreeze(comparison.limit));
  }
  for (const Extension& extension : extensions_) {
    expand_sum(extension.start);
  }
  return inputs;
}

Stretch StretchedLoop::open_stretch(Ir& ir, PHINode* start, const Inputs& inputs) {
  Stretch stretch{start, inputs.rounds};
  for (const auto& [unused, sum] : inputs.sums) {
    Value* at_start = ir.CreateAdd(ir.CreateZExt(sum, ir.getInt64Ty()), start);
    Value* room = ir.CreateSub(ir.getInt64(half), ir.CreateAnd(at_start, half - 1));
    stretch.end = ir.CreateBinaryIntrinsic(Intrinsic::smin, stretch.end, ir.CreateAdd(start, room));
  }
  stretch.first = start;
  stretch.last = stretch.end;
  if (guard_.known) {
    stretch.begin_at(ir, ir.getInt64(guard_.known->first));
    stretch.end_at(ir, ir.getInt64(guard_.known->last));
  }
  for (size_t i = 0; i < guard_.comparisons.size(); ++i) {
    const Comparison& comparison = guard_.comparisons[i];
    stretch.bound(ir, inputs.sums.lookup(comparison.start), comparison.predicate, inputs.limits[i]);
  }
  return stretch;
}

void StretchedLoop::extend_once(Ir& ir, Value* first, const Inputs& inputs) {
  for (const auto& [cast, start] : extensions_) {
    Value* sum = ir.CreateAdd(inputs.sums.lookup(start), ir.CreateTrunc(first, ir.getInt32Ty()));
    Value* wide = ir.CreateCast(cast->getOpcode(), sum, ir.getInt64Ty());
    Value* at_round_0 = ir.CreateSub(wide, first);
    Ir body(cast);
    Value* round = body.CreateZExtOrTrunc(loop_.index, body.getInt64Ty());
    Value* extended = body.CreateAdd(at_round_0, round);
    extended->takeName(cast);
    cast->replaceAllUsesWith(extended);
    cast->eraseFromParent();
  }
}

void StretchedLoop::stretch() {
  LLVMContext& context = loop_.header->getContext();
  Function* function = loop_.header->getParent();
  BasicBlock* before = loop_.loop->getLoopPreheader();
  BasicBlock* stretch_block = BasicBlock::Create(context, "stretch", function, loop_.header);
  BasicBlock* enter = BasicBlock::Create(context, "stretch.enter", function, loop_.header);
  BasicBlock* leave = BasicBlock::Create(context, "stretch.leave", function, loop_.exit);
  const Inputs inputs = expand_inputs(before->getTerminator());
  before->getTerminator()->replaceSuccessorWith(loop_.header, stretch_block);

  Ir ir(stretch_block);
  PHINode* start = ir.CreatePHI(ir.getInt64Ty(), 2, "round");
  const Stretch stretch = open_stretch(ir, start, inputs);
  start->addIncoming(ir.getInt64(0), before);
  start->addIncoming(stretch.end, leave);
  ir.CreateCondBr(ir.CreateICmpSLT(stretch.first, stretch.last), enter, leave);

  ir.SetInsertPoint(enter);
  extend_once(ir, stretch.first, inputs);
  Value* first = ir.CreateTrunc(stretch.first, loop_.index->getType());
  Value* last = ir.CreateTrunc(stretch.last, loop_.index->getType());
  ir.CreateBr(loop_.header);
  loop_.index->replaceIncomingBlockWith(before, enter);
  loop_.run_between(enter, first, last, leave);

  ir.SetInsertPoint(leave);
  ir.CreateCondBr(ir.CreateICmpSLT(stretch.end, inputs.rounds), stretch_block, loop_.exit);
  loop_.exit->replacePhiUsesWith(loop_.latch, leave);
  guard_.keep_others(loop_);
}

// Whether rounds are whole vectors, of 16 at most, or few: what is left over runs one by one, where
// the guard makes one masked vector of it. No rounds at all are left to LLVM.
bool is_worth_cutting(const ThreadGuard::Rounds& rounds) {
  constexpr uint64_t widest = 16;
  const uint64_t count = rounds.last - rounds.first;
  return count > 0 && (count < widest || count % widest == 0);
}

// run_only() runs a loop that counts its rounds from 0 in those alone.
void run_only(const CountedLoop& loop, const ThreadGuard::Rounds& rounds) {
  BasicBlock* before = loop.loop->getLoopPreheader();
  Type* type = loop.index->getType();
  loop.run_between(before, ConstantInt::get(type, rounds.first),
                   ConstantInt::get(type, rounds.last), loop.exit);
}

}  // namespace

PreservedAnalyses ThreadStretchesPass::run(Function& function, FunctionAnalysisManager& analyses) {
  return change_counted_loops(function, analyses, {.may_be_outer = true},
                              [](const CountedLoop& loop, ScalarEvolution& evolution) {
                                if (!loop.counts_from_0()) return false;
                                const std::optional<ThreadGuard> guard =
                                    ThreadGuard::of(loop, evolution);
                                if (!guard) return false;
                                const bool only_known = guard->comparisons.empty();
                                if (only_known && !is_worth_cutting(*guard->known)) return false;
                                if (only_known) {
                                  run_only(loop, *guard->known);
                                  guard->keep_others(loop);
                                } else {
                                  StretchedLoop(loop, *guard, evolution).stretch();
                                }
                                return true;
                              });
}

}  // namespace sluice::hostcuda::jit
