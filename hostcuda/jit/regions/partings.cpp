#include "hostcuda/jit/regions/partings.hpp"

#include <optional>

#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/lowering/sync_points.hpp"

namespace sluice::hostcuda::jit {

using namespace llvm;

Partings::Partings(Function& function, bool at_barriers) : post_dominators_(function) {
  if (!at_barriers) return;
  for (const Instruction& instruction : instructions(function)) {
    auto* call = dyn_cast<CallInst>(&instruction);
    const std::optional<SyncOperation> operation = call ? sync_operation(*call) : std::nullopt;
    if (operation && is_block_wide(*operation)) barriers_.insert(instruction.getParent());
  }
}

Parting::Blocks Partings::behind(BasicBlock& branch, const BasicBlock* join,
                                 bool past_barriers) const {
  Parting::Blocks found;
  for (BasicBlock* next : successors(&branch))
    found.insert(next);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] == join || found[i] == &branch) continue;
    if (!past_barriers && barriers_.contains(found[i])) continue;
    for (BasicBlock* next : successors(found[i]))
      found.insert(next);
  }
  found.remove(&branch);
  return found;
}

Parting Partings::at(BasicBlock& branch) const {
  const auto* node = post_dominators_.getNode(&branch);
  BasicBlock* join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  Parting::Blocks before_barriers = behind(branch, join, false);
  BasicBlock* barrier = nullptr;
  unsigned barriers = 0;
  for (BasicBlock* block : before_barriers) {
    if (block == join || !barriers_.contains(block)) continue;
    barrier = block;
    ++barriers;
  }
  if (barriers == 0) return {join, std::move(before_barriers)};
  // Who comes to where nothing is left but the kernel's end is gone.
  const bool is_end = join && isa<ReturnInst>(join->front());
  const bool all_come = is_end || !before_barriers.contains(join);
  if (barriers == 1 && all_come) return {barrier, std::move(before_barriers)};
  return {join, behind(branch, join, true)};
}

}  // namespace sluice::hostcuda::jit
