// From allocas to values.
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "ptx/lift/function_lifter.hpp"

namespace sluice::ptx::lift_detail {

namespace {

void promote_allocas(llvm::Function& function) {
  std::vector<llvm::AllocaInst*> allocas;
  for (llvm::Instruction& instruction : function.getEntryBlock()) {
    auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (alloca != nullptr && llvm::isAllocaPromotable(alloca)) allocas.push_back(alloca);
  }
  if (allocas.empty()) return;
  llvm::DominatorTree dominators(function);
  llvm::PromoteMemToReg(allocas, dominators);
}

// simplify() folds what InstSimplify folds without making new instructions, such as the bit casts
// between a .b32 register and its f32 uses, and removes what nobody reads.
void simplify(llvm::Function& function) {
  const llvm::SimplifyQuery query(function.getParent()->getDataLayout());
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (instruction.use_empty()) continue;
      llvm::Value* simpler = llvm::simplifyInstruction(&instruction, query);
      if (simpler != nullptr) instruction.replaceAllUsesWith(simpler);
    }
  }
  llvm::SmallVector<llvm::WeakTrackingVH, 32> dead;
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : block) {
      if (llvm::isInstructionTriviallyDead(&instruction)) dead.emplace_back(&instruction);
    }
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
}

void merge_blocks(llvm::Function& function) {
  for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) {
    llvm::MergeBlockIntoPredecessor(&block);
  }
}

}  // namespace

void promote(llvm::Function& function) {
  llvm::EliminateUnreachableBlocks(function);
  promote_allocas(function);
  simplify(function);
  merge_blocks(function);
}

}  // namespace sluice::ptx::lift_detail
