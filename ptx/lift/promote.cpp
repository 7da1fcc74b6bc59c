// From allocas to values.
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "ptx/lift/function_lifter.hpp"

namespace sluice::ptx::lift_detail {

namespace {

using Allocas = std::vector<llvm::AllocaInst*>;

// forward_in_block() leaves of a block's accesses to `registers` the first load before any store
// and the last store.
void forward_in_block(llvm::BasicBlock& block,
                      const llvm::DenseSet<const llvm::Value*>& registers) {
  llvm::DenseMap<llvm::Value*, llvm::Value*> value_in;
  llvm::DenseMap<llvm::Value*, llvm::StoreInst*> last_store;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      llvm::Value* place = store->getPointerOperand();
      if (!registers.contains(place)) continue;
      llvm::StoreInst*& previous = last_store[place];
      if (previous != nullptr) previous->eraseFromParent();
      previous = store;
      value_in[place] = store->getValueOperand();
    } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      llvm::Value* place = load->getPointerOperand();
      if (!registers.contains(place)) continue;
      const auto [known, first] = value_in.try_emplace(place, load);
      if (first) continue;
      load->replaceAllUsesWith(known->second);
      load->eraseFromParent();
    }
  }
}

// remove_unread() removes the registers that no load is left of.
void remove_unread(Allocas& allocas) {
  llvm::erase_if(allocas, [](llvm::AllocaInst* alloca) {
    const auto is_store = [](llvm::User* user) { return llvm::isa<llvm::StoreInst>(user); };
    if (!llvm::all_of(alloca->users(), is_store)) return false;
    for (llvm::User* user : llvm::make_early_inc_range(alloca->users()))
      llvm::cast<llvm::Instruction>(user)->eraseFromParent();
    alloca->eraseFromParent();
    return true;
  });
}

void promote_allocas(llvm::Function& function) {
  Allocas allocas;
  for (llvm::Instruction& instruction : function.getEntryBlock()) {
    auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (alloca != nullptr && llvm::isAllocaPromotable(alloca)) allocas.push_back(alloca);
  }
  // LLVM looks for the first access to each register from its block's beginning: too long in an
  // unrolled kernel, whose blocks have thousands of instructions and about as many registers. Most
  // registers live within one block, and are gone before LLVM sees them.
  const llvm::DenseSet<const llvm::Value*> registers(allocas.begin(), allocas.end());
  for (llvm::BasicBlock& block : function)
    forward_in_block(block, registers);
  remove_unread(allocas);
  if (allocas.empty()) return;
  llvm::DominatorTree dominators(function);
  llvm::PromoteMemToReg(allocas, dominators);
}

// simplify() folds what InstSimplify folds without making new instructions, such as the bit casts
// between a .b32 register and its f32 uses, and removes what nobody reads.
void simplify(llvm::Function& function, bool keeps_loads) {
  const llvm::SimplifyQuery query(function.getParent()->getDataLayout());
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (instruction.use_empty()) continue;
      llvm::Value* simpler = llvm::simplifyInstruction(&instruction, query);
      if (simpler != nullptr) instruction.replaceAllUsesWith(simpler);
    }
  }
  for (llvm::BasicBlock& block : llvm::reverse(function)) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (keeps_loads && instruction.mayReadFromMemory()) continue;
      // Only what carries a mark does nothing on purpose.
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      const bool is_mark = call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::donothing;
      if (!is_mark && llvm::isInstructionTriviallyDead(&instruction)) instruction.eraseFromParent();
    }
  }
}

void merge_blocks(llvm::Function& function) {
  for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) {
    llvm::MergeBlockIntoPredecessor(&block);
  }
}

}  // namespace

void promote(llvm::Function& function, bool keeps_loads) {
  llvm::EliminateUnreachableBlocks(function);
  promote_allocas(function);
  simplify(function, keeps_loads);
  merge_blocks(function);
}

}  // namespace sluice::ptx::lift_detail
