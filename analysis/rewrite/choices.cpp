#include "analysis/rewrite/choices.hpp"

#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "analysis/kernel/access_form.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

// Each choice doubles what depends on it. These bounds keep a kernel that chooses everywhere as
// small as the affine model can bear.
constexpr unsigned most_splits_of_a_touch = 3;
constexpr unsigned most_splits = 64;
constexpr size_t longest_path = 64;

bool is_touch(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  return call != nullptr && call->getCalledFunction() != nullptr &&
         call->getCalledFunction()->getName() == touch_name;
}

// is_arithmetic() is true of what may be computed twice, and in any order.
bool is_arithmetic(const Instruction& instruction) {
  return isa<BinaryOperator, CastInst, SelectInst, ICmpInst, MinMaxIntrinsic>(instruction) ||
         (isa<IntrinsicInst>(instruction) &&
          cast<IntrinsicInst>(instruction).getIntrinsicID() == Intrinsic::abs);
}

// Path is the arithmetic from a choice to the value that depends on it, operands first.
struct Path {
  SelectInst* choice = nullptr;
  std::vector<Instruction*> steps;
};

class Splitter {
 public:
  Splitter(Function& function, ScalarEvolution& evolution) : function_(function) {
    for (Instruction& instruction : instructions(function)) {
      auto* select = dyn_cast<SelectInst>(&instruction);
      if (select == nullptr || !select->getType()->isIntegerTy() ||
          select->getType()->isIntegerTy(1)) {
        continue;
      }
      if (isa<SCEVUnknown>(evolution.getSCEV(select))) choices_.insert(select);
    }
  }

  void run() {
    if (choices_.empty()) return;
    std::vector<ICmpInst*> comparisons;
    std::vector<CallInst*> touches;
    for (Instruction& instruction : instructions(function_)) {
      if (auto* comparison = dyn_cast<ICmpInst>(&instruction)) comparisons.push_back(comparison);
      if (is_touch(instruction)) touches.push_back(cast<CallInst>(&instruction));
    }
    for (ICmpInst* comparison : comparisons)
      split(*comparison);
    for (CallInst* touch : touches)
      split(*touch, most_splits_of_a_touch);
  }

 private:
  // path_to() is the way from the first choice that `value` depends on. A choice between values
  // that are chosen themselves comes before those.
  Path path_to(Value* value) const {
    Path path;
    DenseSet<Instruction*> seen;
    std::vector<Instruction*> order;
    collect(value, seen, order);
    for (Instruction* instruction : reverse(order)) {
      if (auto* select = dyn_cast<SelectInst>(instruction); select && choices_.contains(select)) {
        path.choice = select;
        break;
      }
    }
    if (path.choice == nullptr) return path;
    DenseSet<Value*> depend;
    depend.insert(path.choice);
    for (Instruction* instruction : order) {
      if (instruction == path.choice) continue;
      if (any_of(instruction->operands(), [&](Use& use) { return depend.contains(use.get()); })) {
        depend.insert(instruction);
        path.steps.push_back(instruction);
      }
    }
    return path;
  }

  // collect() lists the arithmetic that `value` depends on, operands before what uses them.
  void collect(Value* value, DenseSet<Instruction*>& seen, std::vector<Instruction*>& order) const {
    auto* instruction = dyn_cast<Instruction>(value);
    if (instruction == nullptr || !is_arithmetic(*instruction) || seen.size() > longest_path ||
        !seen.insert(instruction).second) {
      return;
    }
    for (Value* operand : instruction->operands())
      collect(operand, seen, order);
    order.push_back(instruction);
  }

  // with() computes `value` anew before `place`, with one of the two values for the choice.
  Value* with(const Path& path, Value* value, Value* chosen, Instruction* place) {
    DenseMap<Value*, Value*> copies;
    copies[path.choice] = chosen;
    for (Instruction* step : path.steps) {
      Instruction* copy = step->clone();
      copy->insertBefore(place);
      for (Use& use : copy->operands()) {
        if (const auto found = copies.find(use.get()); found != copies.end()) {
          use.set(found->second);
        }
      }
      copies[step] = copy;
      auto* select = dyn_cast<SelectInst>(step);
      if (select != nullptr && choices_.contains(select)) choices_.insert(cast<SelectInst>(copy));
    }
    return copies.lookup(value);
  }

  void split(CallInst& touch, unsigned depth) {
    Value* offset = touch.getArgOperand(0);
    const Path path = path_to(offset);
    if (path.choice == nullptr || depth == 0 || splits_ == most_splits) return;
    ++splits_;
    Instruction *then = nullptr, *otherwise = nullptr;
    SplitBlockAndInsertIfThenElse(path.choice->getCondition(), touch.getIterator(), &then,
                                  &otherwise);
    auto* copy = cast<CallInst>(touch.clone());
    copy->insertBefore(then);
    copy->setArgOperand(0, with(path, offset, path.choice->getTrueValue(), copy));
    touch.moveBefore(otherwise);
    touch.setArgOperand(0, with(path, offset, path.choice->getFalseValue(), &touch));
    split(*copy, depth - 1);
    split(touch, depth - 1);
  }

  void split(ICmpInst& comparison) {
    const Path path = path_to(&comparison);
    if (path.choice == nullptr || splits_ == most_splits || divides_by_choice(path)) return;
    ++splits_;
    IRBuilder<> builder(&comparison);
    Value* yes = with(path, &comparison, path.choice->getTrueValue(), &comparison);
    Value* no = with(path, &comparison, path.choice->getFalseValue(), &comparison);
    Value* condition = path.choice->getCondition();
    Value* both = builder.CreateOr(builder.CreateAnd(condition, yes),
                                   builder.CreateAnd(builder.CreateNot(condition), no));
    comparison.replaceAllUsesWith(both);
  }

  // divides_by_choice() is true where a value that is not chosen might divide by zero.
  static bool divides_by_choice(const Path& path) {
    return any_of(path.steps, [](Instruction* step) {
      return step->isIntDivRem() && !isa<ConstantInt>(step->getOperand(1));
    });
  }

  Function& function_;
  DenseSet<SelectInst*> choices_;
  unsigned splits_ = 0;
};

}  // namespace

void split_choices(llvm::Function& function, llvm::ScalarEvolution& evolution) {
  Splitter(function, evolution).run();
}

}  // namespace sluice::analysis
