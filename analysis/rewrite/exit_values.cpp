#include "analysis/rewrite/exit_values.hpp"

#include <optional>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

namespace sluice::analysis {
namespace {

using namespace llvm;

// A value that is looked at for each number that it may be made of is short, and the numbers few:
// a compiler unrolls by 32 at most.
constexpr unsigned most_steps = 8;
constexpr unsigned most_numbers = 64;

// Arithmetic is how a value is made of one other, operands first.
struct Arithmetic {
  Value* result = nullptr;
  Value* number = nullptr;
  SetVector<Instruction*> steps;
};

class ExitValues {
 public:
  ExitValues(Function& function, const LoopFacts& facts) : function_(function), facts_(facts) {}

  void run() {
    for (BasicBlock& block : function_) {
      for (PHINode& phi : block.phis()) {
        if (!phi.getType()->isIntegerTy()) continue;
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
          if (Value* value = value_at_exit(phi, i)) phi.setIncomingValue(i, value);
        }
      }
    }
    for (BasicBlock& block : function_) {
      for (PHINode& phi : make_early_inc_range(block.phis()))
        stand_for_constants(phi);
    }
  }

 private:
  // value_at_exit() is what an incoming value begins its loop with or ends it with, if that is the
  // same; null where it is none that a loop leaves behind.
  Value* value_at_exit(PHINode& phi, unsigned incoming) {
    auto* value = dyn_cast<Instruction>(phi.getIncomingValue(incoming));
    BasicBlock* from = phi.getIncomingBlock(incoming);
    const Loop* loop = facts_.loops.getLoopFor(from);
    if (!value || !loop || loop->contains(phi.getParent())) return nullptr;
    const SCEV* exit = exit_of(*value, *from, *loop, *phi.getParent());
    BasicBlock* before = loop->getLoopPredecessor();
    if (!exit || !before) return nullptr;
    if (auto* constant = dyn_cast<SCEVConstant>(exit)) return constant->getValue();
    for (PHINode& header : loop->getHeader()->phis()) {
      if (header.getType() != phi.getType()) continue;
      Value* start = header.getIncomingValueForBlock(before);
      if (facts_.evolution.getSCEV(start) == exit) return start;
    }
    return nullptr;
  }

  // What a value of a loop is where the loop ends because another one has come to a number: as both
  // go in steps, a multiple of that one, plus what stays the same.
  const SCEV* exit_of(Instruction& value, BasicBlock& from, const Loop& loop, BasicBlock& to) {
    ScalarEvolution& evolution = facts_.evolution;
    auto* branch = dyn_cast<BranchInst>(from.getTerminator());
    if (!branch || !branch->isConditional() || !evolution.isSCEVable(value.getType())) {
      return nullptr;
    }
    auto* test = dyn_cast<ICmpInst>(branch->getCondition());
    if (!test || !test->isEquality() || test->getOperand(0)->getType() != value.getType()) {
      return nullptr;
    }
    const unsigned way_of_equals = test->getPredicate() == ICmpInst::ICMP_EQ ? 0 : 1;
    if (branch->getSuccessor(way_of_equals) != &to ||
        branch->getSuccessor(1 - way_of_equals) == &to)
      return nullptr;
    const SCEV* end = evolution.getSCEV(test->getOperand(1));
    auto* counter = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(test->getOperand(0)));
    auto* moving = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(&value));
    if (!counter || !moving || counter->getLoop() != &loop || moving->getLoop() != &loop ||
        !evolution.isLoopInvariant(end, &loop)) {
      return nullptr;
    }
    const SCEV* times = ratio(*moving, *counter);
    if (!times) return nullptr;
    const SCEV* rest = evolution.getMinusSCEV(moving, evolution.getMulExpr(times, counter));
    if (!evolution.isLoopInvariant(rest, &loop)) return nullptr;
    return evolution.getAddExpr(rest, evolution.getMulExpr(times, end));
  }

  const SCEV* ratio(const SCEVAddRecExpr& moving, const SCEVAddRecExpr& counter) {
    ScalarEvolution& evolution = facts_.evolution;
    auto* step = dyn_cast<SCEVConstant>(moving.getStepRecurrence(evolution));
    auto* by = dyn_cast<SCEVConstant>(counter.getStepRecurrence(evolution));
    if (!step || !by || by->isZero()) return nullptr;
    const APInt &a = step->getAPInt(), &b = by->getAPInt();
    if (b.isAllOnes()) return evolution.getConstant(-a);
    return a.srem(b).isZero() ? evolution.getConstant(a.sdiv(b)) : nullptr;
  }

  // stand_for_constants() puts a value in the place of a phi that is either it or constants.
  void stand_for_constants(PHINode& phi) {
    Value* common = nullptr;
    for (Value* value : phi.incoming_values()) {
      if (isa<ConstantInt>(value)) continue;
      if (common && value != common) return;
      common = value;
    }
    auto* value = dyn_cast_or_null<Instruction>(common);
    if (!value || phi.getNumIncomingValues() < 2 || !phi.getType()->isIntegerTy()) return;
    const std::optional<Arithmetic> made = made_of_one(*value, *phi.getParent());
    if (!made) return;
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      auto* constant = dyn_cast<ConstantInt>(phi.getIncomingValue(i));
      if (constant && !is_always(*made, *constant, *phi.getIncomingBlock(i), phi)) return;
    }
    phi.replaceAllUsesWith(computed_anew(*made, *phi.getParent()));
    phi.eraseFromParent();
  }

  // How `value` is made of one number that is known where `block` begins.
  std::optional<Arithmetic> made_of_one(Instruction& value, BasicBlock& block) {
    Arithmetic made{.result = &value};
    return collect(value, block, made) && made.number ? std::optional(made) : std::nullopt;
  }

  bool collect(Value& value, BasicBlock& block, Arithmetic& made) {
    if (isa<ConstantInt>(value)) return true;
    auto* instruction = dyn_cast<Instruction>(&value);
    const bool is_step =
        instruction && isa<BinaryOperator, CastInst>(*instruction) && !instruction->isIntDivRem();
    if (is_step) {
      if (made.steps.contains(instruction)) return true;
      if (made.steps.size() >= most_steps) return false;
      for (Value* operand : instruction->operands()) {
        if (!collect(*operand, block, made)) return false;
      }
      made.steps.insert(instruction);
      return true;
    }
    if (!value.getType()->isIntegerTy() || (made.number && made.number != &value)) return false;
    made.number = &value;
    return !instruction || facts_.dominators.dominates(instruction, &block);
  }

  // is_always() is whether the value is that constant, whatever the number is on the way from
  // `from` to the phi.
  bool is_always(const Arithmetic& made, const ConstantInt& constant, BasicBlock& from,
                 PHINode& phi) {
    const ConstantRange range =
        facts_.ranges.getConstantRangeOnEdge(made.number, &from, phi.getParent(), &phi);
    if (range.isFullSet() || range.isSizeLargerThan(most_numbers)) return false;
    const DataLayout& layout = function_.getParent()->getDataLayout();
    for (APInt number = range.getLower(); number != range.getUpper(); ++number) {
      DenseMap<Value*, Constant*> known;
      known[made.number] = ConstantInt::get(made.number->getType(), number);
      for (Instruction* step : made.steps) {
        SmallVector<Constant*, 2> operands;
        for (Value* operand : step->operands()) {
          auto* literal = dyn_cast<Constant>(operand);
          operands.push_back(literal ? literal : known.lookup(operand));
        }
        known[step] = ConstantFoldInstOperands(step, operands, layout);
        if (!known[step]) return false;
      }
      if (known.lookup(made.result) != &constant) return false;
    }
    return true;
  }

  // Without the promises that it does not wrap, which hold where it was computed.
  static Value* computed_anew(const Arithmetic& made, BasicBlock& block) {
    DenseMap<Value*, Value*> copies = {{made.number, made.number}};
    Instruction* place = &*block.getFirstInsertionPt();
    for (Instruction* step : made.steps) {
      Instruction* copy = step->clone();
      copy->dropPoisonGeneratingFlags();
      copy->insertBefore(place);
      for (Use& use : copy->operands()) {
        if (const auto found = copies.find(use.get()); found != copies.end()) use = found->second;
      }
      copies[step] = copy;
    }
    return copies.lookup(made.result);
  }

  Function& function_;
  const LoopFacts& facts_;
};

}  // namespace

void make_exits_legible(Function& function, const LoopFacts& facts) {
  ExitValues(function, facts).run();
}

}  // namespace sluice::analysis
