#include "hostcuda/jit/threads/left_values.hpp"

#include <vector>

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

using Phis = SetVector<PHINode*>;

// only_value() is what the phi and those that it comes from can be, but for what is undefined: null
// where that is more than one value. `phis` are all of them.
Value* only_value(PHINode& phi, Phis& phis) {
  Value* only = nullptr;
  phis.insert(&phi);
  for (size_t i = 0; i < phis.size(); ++i) {
    for (Value* value : phis[i]->incoming_values()) {
      if (auto* from = dyn_cast<PHINode>(value)) {
        phis.insert(from);
      } else if (!isa<UndefValue>(value)) {
        if (only && only != value) return nullptr;
        only = value;
      }
    }
  }
  return only;
}

}  // namespace

PreservedAnalyses LeftValuesPass::run(Function& function, FunctionAnalysisManager& analyses) {
  const DominatorTree& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  const auto is_there = [&](const Value& value, const PHINode& phi) {
    const auto* instruction = dyn_cast<Instruction>(&value);
    return !instruction || dominators.dominates(instruction, &phi);
  };
  std::vector<PHINode*> all;
  for (BasicBlock& block : function) {
    for (PHINode& phi : block.phis())
      all.push_back(&phi);
  }
  SmallPtrSet<PHINode*, 16> replaced;
  for (PHINode* phi : all) {
    Phis phis;
    Value* value = replaced.contains(phi) ? nullptr : only_value(*phi, phis);
    if (!value || !all_of(phis, [&](PHINode* each) { return is_there(*value, *each); })) continue;
    for (PHINode* each : phis) {
      each->replaceAllUsesWith(value);
      replaced.insert(each);
    }
  }
  for (PHINode* phi : replaced)
    phi->eraseFromParent();
  return replaced.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

}  // namespace sluice::hostcuda::jit
