#include "hostcuda/jit/waits/wait_calls.hpp"

#include <fmt/format.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>

#include "hostcuda/jit/library/wait_turns.hpp"
#include "hostcuda/jit/waits/waiting_loops.hpp"
#include "ptx/lift.hpp"
#include "ptx/mbarrier_call.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

const char* kind_of(const Instruction& read) {
  return isa<LoadInst>(read) ? "a word that it reads again and again"
                             : "a word that it updates again and again";
}

Constant* text_of(const WaitingLoop& waiting, const KernelContext& context, Module& module) {
  const char* place = waiting.is_shared ? "in shared memory" : "in global memory";
  const std::string text = fmt::format("{}: waits for another thread to write {} {}",
                                       sluice::hostcuda::jit::place(context, *waiting.read),
                                       kind_of(*waiting.read), place);
  Constant* content = ConstantDataArray::getString(module.getContext(), text);
  return new llvm::GlobalVariable(module, content->getType(), true, GlobalValue::PrivateLinkage,
                                  content, "sluice.wait.text");
}

CallInst* call(IRBuilder<>& ir, const char* name, ArrayRef<Value*> arguments) {
  SmallVector<Type*, 1> types;
  for (Value* argument : arguments)
    types.push_back(argument->getType());
  FunctionCallee callee = ir.GetInsertBlock()->getModule()->getOrInsertFunction(
      name, FunctionType::get(ir.getVoidTy(), types, false));
  auto* function = cast<Function>(callee.getCallee());
  function->setDoesNotThrow();
  return ir.CreateCall(callee, arguments);
}

// Where the way from a latch back to the header leads along, and nothing else.
Instruction* place_on_way_back(BasicBlock& latch, BasicBlock& header) {
  Instruction* end = latch.getTerminator();
  if (end->getNumSuccessors() == 1) return end;
  if (count(successors(&latch), &header) != 1) return end;
  BasicBlock* way = BasicBlock::Create(latch.getContext(), "wait", latch.getParent(), &header);
  BranchInst::Create(&header, way);
  end->replaceSuccessorWith(&header, way);
  header.replacePhiUsesWith(&latch, way);
  return way->getTerminator();
}

void tell_end(const WaitingLoop& waiting) {
  SmallVector<BasicBlock*> exits;
  waiting.loop->getUniqueExitBlocks(exits);
  for (BasicBlock* exit : exits) {
    IRBuilder<> ir(&*exit->getFirstInsertionPt());
    call(ir, wait_end_symbol, {});
  }
}

void let_others_run(const WaitingLoop& waiting, const KernelContext& context) {
  BasicBlock* header = waiting.loop->getHeader();
  Constant* text = text_of(waiting, context, *header->getModule());
  const bool yields = !waiting.meets && !waiting.is_grid && context.block.count() > 1;
  for (BasicBlock* latch : waiting.latches) {
    IRBuilder<> ir(place_on_way_back(*latch, *header));
    call(ir, wait_turn_symbol, {text});
    if (yields) call(ir, ptx::mbarrier_call::yield, {})->setConvergent();
  }
}

}  // namespace

bool insert_waits(Function& function, const KernelContext& context) {
  DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  PostDominatorTree post_dominators(function);
  bool for_blocks = false;
  const Loop* outer = nullptr;
  for (const WaitingLoop& waiting : find_waiting_loops(function, loops, post_dominators)) {
    // All threads of the block go round together, and nobody else can write.
    if (waiting.is_shared && waiting.meets) continue;
    // Who leaves a loop within one that waits may come back and wait there again.
    if (!outer || !outer->contains(waiting.loop)) {
      tell_end(waiting);
      outer = waiting.loop;
    }
    let_others_run(waiting, context);
    for_blocks |= !waiting.is_shared && !waiting.is_grid;
  }
  return for_blocks;
}

}  // namespace sluice::hostcuda::jit
