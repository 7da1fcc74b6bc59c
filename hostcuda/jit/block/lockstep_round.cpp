#include "hostcuda/jit/block/lockstep_round.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool has_cycle(BasicBlock* block, const BlockSet& blocks, SmallPtrSetImpl<BasicBlock*>& on_the_way,
               SmallPtrSetImpl<BasicBlock*>& through) {
  if (!blocks.contains(block) || through.contains(block)) return false;
  if (!on_the_way.insert(block).second) return true;
  const bool found = any_of(successors(block), [&](BasicBlock* next) {
    return has_cycle(next, blocks, on_the_way, through);
  });
  on_the_way.erase(block);
  through.insert(block);
  return found;
}

// Slice is what decides where threads go in a region, and what they say at its end.
class Slice {
 public:
  Slice(const BlockSet& blocks, const LiveValues& live, ArrayRef<unsigned> live_in, unsigned inside)
      : blocks_(blocks), live_(live), live_in_(live_in), inside_(inside) {}

  bool can_be_told_again(BasicBlock* entry, BasicBlock* cut, Value* said) {
    SmallPtrSet<BasicBlock*, 16> on_the_way;
    SmallPtrSet<BasicBlock*, 16> through;
    if (has_cycle(entry, blocks_, on_the_way, through)) return false;
    add(said);
    for (BasicBlock* block : blocks_) {
      Instruction* end = block->getTerminator();
      if (block != cut && end->getNumSuccessors() > 1) add(end->getOperand(0));
    }
    while (!pending_.empty()) {
      if (!follow(*pending_.pop_back_val())) return false;
    }
    return true;
  }

 private:
  void add(Value* value) {
    auto* instruction = dyn_cast<Instruction>(value);
    if (instruction && seen_.insert(instruction).second) pending_.push_back(instruction);
  }

  bool follow(Instruction& value) {
    if (auto* load = dyn_cast<LoadInst>(&value)) return follow_slot(load->getPointerOperand());
    auto* call = dyn_cast<CallInst>(&value);
    if (call && (!isa<IntrinsicInst>(call) || call->isConvergent())) return false;
    if (value.mayReadOrWriteMemory()) return false;
    for (Value* operand : value.operands())
      add(operand);
    return true;
  }

  // A slot must be as the region found it: what threads keep of it would be overwritten.
  bool follow_slot(Value* place) {
    const auto slot = find_if(live_.slots, [&](const Slot& each) { return each.storage == place; });
    if (slot == live_.slots.end()) return false;
    const auto number = static_cast<unsigned>(slot - live_.slots.begin());
    bool is_written = false;
    for (User* user : place->users()) {
      auto* store = dyn_cast<StoreInst>(user);
      if (!store || !blocks_.contains(store->getParent())) continue;
      is_written = true;
      add(store->getValueOperand());
    }
    return !is_written || slot->uniform || number == inside_ || !is_contained(live_in_, number);
  }

  const BlockSet& blocks_;
  const LiveValues& live_;
  ArrayRef<unsigned> live_in_;
  unsigned inside_;
  SmallPtrSet<Instruction*, 32> seen_;
  SmallVector<Instruction*, 32> pending_;
};

}  // namespace

std::optional<LockstepRound> LockstepRound::of(BasicBlock* entry, const BlockSet& blocks,
                                               const SyncPoint& point, const LiveValues& live) {
  LockstepRound round;
  round.cut = point.block;
  for (BasicBlock* block : blocks) {
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || !branch->getMetadata(lockstep_head)) continue;
    if (round.head) return std::nullopt;
    round.head = branch;
  }
  auto* call = cast<CallInst>(std::prev(point.block->getTerminator()->getIterator()));
  auto* said = dyn_cast<TruncInst>(call->getArgOperand(0));
  auto* load = said ? dyn_cast<LoadInst>(said->getOperand(0)) : nullptr;
  if (!round.head || !load) return std::nullopt;
  const auto slot = find_if(
      live.slots, [&](const Slot& each) { return each.storage == load->getPointerOperand(); });
  if (slot == live.slots.end() || slot->uniform) return std::nullopt;
  round.inside = static_cast<unsigned>(slot - live.slots.begin());
  const auto found = live.live_in.find(entry);
  const ArrayRef<unsigned> live_in =
      found == live.live_in.end() ? ArrayRef<unsigned>() : ArrayRef<unsigned>(found->second);
  round.goes_on = is_contained(live_in, round.inside);
  Slice slice(blocks, live, live_in, round.inside);
  round.can_be_told_again = slice.can_be_told_again(entry, point.block, said);
  return round;
}

bool may_go_together(const SyncPoint& point, ArrayRef<BasicBlock*> entries,
                     function_ref<BlockSet(BasicBlock*)> blocks_of, const LiveValues& live) {
  return all_of(entries, [&](BasicBlock* entry) {
    const BlockSet blocks = blocks_of(entry);
    if (!blocks.contains(point.block)) return true;
    const auto round = LockstepRound::of(entry, blocks, point, live);
    return round && (round->can_be_told_again || !round->goes_on);
  });
}

void drop_accesses(const BlockSet& blocks, const LiveValues& live, ArrayRef<SyncPoint> points,
                   ValueToValueMapTy& map) {
  const auto is_kept = [&](Instruction& each) {
    const Value* place = getLoadStorePointerOperand(&each);
    if (any_of(live.slots, [&](const Slot& slot) { return slot.storage == place; })) return true;
    auto* call = dyn_cast<CallInst>(&each);
    if (call && is_lockstep(*call)) return true;
    if (any_of(points, [&](const SyncPoint& point) { return point.result == &each; })) return true;
    return !each.mayReadOrWriteMemory();
  };
  for (BasicBlock* block : blocks) {
    for (Instruction& each : *block) {
      if (each.isTerminator() || is_kept(each)) continue;
      auto* copy = cast<Instruction>(map.lookup(&each));
      if (!each.getType()->isVoidTy()) map[&each] = PoisonValue::get(each.getType());
      copy->eraseFromParent();
    }
  }
}

}  // namespace sluice::hostcuda::jit
