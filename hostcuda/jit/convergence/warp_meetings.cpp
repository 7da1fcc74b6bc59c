#include "hostcuda/jit/convergence/warp_meetings.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "hostcuda/jit/convergence/meeting_places.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"
#include "ptx/lift.hpp"
#include "ptx/mbarrier_call.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool has_writes(Function& function) {
  return any_of(instructions(function), [](const Instruction& instruction) {
    return isa<StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction);
  });
}

void call(const char* name, Instruction& before) {
  IRBuilder<> ir(&before);
  FunctionCallee callee =
      before.getModule()->getOrInsertFunction(name, FunctionType::get(ir.getVoidTy(), false));
  cast<Function>(callee.getCallee())->addFnAttr(Attribute::Convergent);
  ir.CreateCall(callee)->setMetadata(ptx::line_mark, before.getMetadata(ptx::line_mark));
}

bool yields(const BasicBlock& block) {
  return any_of(block, [](const Instruction& instruction) {
    auto* call = dyn_cast<CallInst>(&instruction);
    return call && is_yield(*call);
  });
}

// Whether all threads of the block meet in each round of a loop: nobody waits there for who is
// elsewhere.
bool meets_in_each_round(const Loop& loop, const DominatorTree& dominators) {
  SmallVector<BasicBlock*, 4> latches;
  loop.getLoopLatches(latches);
  return any_of(loop.blocks(), [&](const BasicBlock* block) {
    const bool is_on_each_way = all_of(
        latches, [&](const BasicBlock* latch) { return dominators.dominates(block, latch); });
    return is_on_each_way && any_of(*block, [](const Instruction& instruction) {
             auto* call = dyn_cast<CallInst>(&instruction);
             const auto operation = call ? sync_operation(*call) : std::nullopt;
             return operation && is_block_wide(*operation);
           });
  });
}

// Whether a loop goes on for as long as memory says so that others may write meanwhile.
bool waits_for_others(const Loop& loop) {
  std::vector<const Instruction*> pending;
  std::set<const Instruction*> seen;
  SmallVector<BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  for (BasicBlock* block : exiting)
    pending.push_back(block->getTerminator());
  while (!pending.empty()) {
    const Instruction* instruction = pending.back();
    pending.pop_back();
    if (!loop.contains(instruction) || !seen.insert(instruction).second) continue;
    if (instruction->isAtomic() || (isa<LoadInst>(instruction) && instruction->isVolatile())) {
      return true;
    }
    for (const Use& operand : instruction->operands()) {
      if (auto* value = dyn_cast<Instruction>(operand.get())) pending.push_back(value);
    }
  }
  return false;
}

std::vector<const Loop*> find_waiting_loops(const MeetingPlaces& meetings) {
  std::vector<const Loop*> waiting;
  for (const Loop* loop : const_cast<LoopInfo&>(meetings.loops()).getLoopsInPreorder()) {
    if (meets_in_each_round(*loop, meetings.dominators())) continue;
    if (waits_for_others(*loop)) waiting.push_back(loop);
  }
  return waiting;
}

void drop_idle_waits(Function& function, const std::set<Instruction*>& kept) {
  for (Instruction& instruction : make_early_inc_range(instructions(function))) {
    auto* wait = dyn_cast<CallInst>(&instruction);
    if (wait && is_wait(*wait) && kept.count(wait) == 0) wait->eraseFromParent();
  }
}

void insert(MeetingPlaces& meetings, const std::set<Instruction*>& places) {
  const std::vector<const Loop*> waiting = find_waiting_loops(meetings);
  const std::set<BasicBlock*> joins = meetings.joins();
  for (Instruction* place : places) {
    if (auto* wait = dyn_cast<CallInst>(place); wait && is_wait(*wait)) continue;
    const bool waits = any_of(waiting, [&](const Loop* loop) { return loop->contains(place); });
    call(waits ? ptx::mbarrier_call::yield : meeting_name, *place);
  }
  for (BasicBlock* join : joins)
    call(meeting_name, *join->getFirstInsertionPt());
  for (const Loop* loop : waiting) {
    SmallVector<BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    for (BasicBlock* latch : latches) {
      if (!yields(*latch)) call(ptx::mbarrier_call::yield, *latch->getTerminator());
    }
  }
}

}  // namespace

unsigned insert_warp_meetings(Function& function, const Dim3& block) {
  if (block.count() == 1 || !has_writes(function)) {
    drop_idle_waits(function, {});
    return 0;
  }
  MeetingPlaces meetings(function, block);
  const std::set<Instruction*>& places = meetings.find();
  drop_idle_waits(function, places);
  if (!places.empty()) insert(meetings, places);
  return static_cast<unsigned>(places.size());
}

}  // namespace sluice::hostcuda::jit
