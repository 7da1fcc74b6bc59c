#include "hostcuda/jit/block/block_body.hpp"

#include <algorithm>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "base/log.hpp"
#include "hostcuda/block_abi.h"
#include "hostcuda/jit/block/shared_atomics.hpp"
#include "hostcuda/jit/block/told_way.hpp"
#include "hostcuda/jit/convergence/warp_meetings.hpp"
#include "hostcuda/jit/lockstep/atomics_apart.hpp"
#include "hostcuda/jit/lockstep/lockstep_loops.hpp"
#include "hostcuda/jit/lockstep/rolled_loops.hpp"
#include "hostcuda/jit/regions/inductions.hpp"
#include "hostcuda/jit/regions/lifted_points.hpp"
#include "hostcuda/jit/threads/private_scopes.hpp"
#include "hostcuda/jit/threads/row_threads.hpp"
#include "hostcuda/jit/waits/wait_calls.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Local arrays become memory of their thread for the whole kernel.
void drop_lifetimes(Function& function) {
  for (Instruction& instruction : make_early_inc_range(instructions(function))) {
    if (instruction.isLifetimeStartOrEnd()) instruction.eraseFromParent();
  }
}

std::vector<AllocaInst*> find_locals(Function& function) {
  std::vector<AllocaInst*> locals;
  for (Instruction& instruction : instructions(function)) {
    if (auto* alloca = dyn_cast<AllocaInst>(&instruction)) locals.push_back(alloca);
  }
  return locals;
}

// A block of its own for each edge out of `block`, so that a region can start there.
std::vector<BasicBlock*> split_edges(BasicBlock* block) {
  std::vector<BasicBlock*> entries;
  Instruction* terminator = block->getTerminator();
  for (unsigned i = 0; i < terminator->getNumSuccessors(); ++i) {
    BasicBlock* successor = terminator->getSuccessor(i);
    BasicBlock* edge =
        BasicBlock::Create(block->getContext(), "edge", block->getParent(), successor);
    BranchInst::Create(successor, edge);
    terminator->setSuccessor(i, edge);
    // One of possibly several incoming entries for `block` now comes from the edge.
    for (PHINode& phi : successor->phis())
      phi.setIncomingBlock(phi.getBasicBlockIndex(block), edge);
    entries.push_back(edge);
  }
  return entries;
}

// Whether threads of neighbouring blocks may run in any order among each other: they share no
// memory and never look at what others write while they run, as a look-back scan does.
bool is_independent_of_blocks(Function& function) {
  if (!function.getArg(ThreadFunction::shared)->use_empty()) return false;
  return none_of(instructions(function), [](const Instruction& instruction) {
    return instruction.isAtomic() || instruction.isVolatile() || isa<FenceInst>(instruction);
  });
}

struct Cut {
  KernelRegions regions;
  RegionPlan plan;
  Uniformity uniformity;
};

Cut cut_into_regions(Function& function, const KernelContext& context) {
  KernelRegions regions;
  regions.points = split_at_sync_points(function, context);
  Uniformity uniformity(function, regions.points);
  if (!regions.points.empty() && split_inductions(function, uniformity)) {
    uniformity = Uniformity(function, regions.points);
  }
  RegionPlan plan = plan_regions(function, regions.points, uniformity);
  // Threads that leave others behind at a barrier need states of their own.
  const bool is_numbered =
      any_of(regions.points, [](const SyncPoint& point) { return point.is_numbered; });
  if (is_numbered) plan.structured = false;
  return {std::move(regions), std::move(plan), std::move(uniformity)};
}

// cut_with_lockstep() makes lockstep loops where that leaves the threads together.
Cut cut_with_lockstep(ThreadFunction& thread, const KernelContext& context) {
  if (context.traced) return cut_into_regions(*thread.function, context);
  ValueToValueMapTy map;
  Function* before = CloneFunction(thread.function, map);
  if (make_lockstep_loops(*thread.function, context.block)) {
    Cut cut = cut_into_regions(*thread.function, context);
    if (cut.plan.structured) {
      before->eraseFromParent();
      return cut;
    }
  }
  thread.function->eraseFromParent();
  thread.function = before;
  return cut_into_regions(*before, context);
}

// may_lift() is false where there is nothing to lift, and where threads wait for others in a loop:
// they must not hold up those that the others wait for.
bool may_lift(Function& function) {
  bool has_points = false;
  for (const Instruction& instruction : instructions(function)) {
    const auto* call = dyn_cast<CallInst>(&instruction);
    if (call && is_yield(*call)) return false;
    has_points |= call && is_sync_point(*call);
  }
  return has_points;
}

bool stay_together(const RegionPlan& plan) {
  return plan.structured && !plan.early_exits;
}

// cut_with_lifted_points() lifts operations of warps out of their branches where only that leaves
// the threads together: without states of their own, and without some that end before others.
Cut cut_with_lifted_points(ThreadFunction& thread, const KernelContext& context) {
  if (!may_lift(*thread.function)) return cut_with_lockstep(thread, context);
  ValueToValueMapTy map;
  Function* before = CloneFunction(thread.function, map);
  Cut cut = cut_with_lockstep(thread, context);
  if (stay_together(cut.plan) || !lift_points(*before)) {
    before->eraseFromParent();
    return cut;
  }
  ThreadFunction lifted = thread;
  lifted.function = before;
  Cut lifted_cut = cut_with_lockstep(lifted, context);
  const bool is_better =
      stay_together(lifted_cut.plan) || (lifted_cut.plan.structured && !cut.plan.structured);
  (is_better ? thread : lifted).function->eraseFromParent();
  if (is_better) thread.function = lifted.function;
  return is_better ? std::move(lifted_cut) : std::move(cut);
}

// cut_with_atomics_apart() sets atomic updates apart where the threads still come to all meetings
// together.
Cut cut_with_atomics_apart(ThreadFunction& thread, const KernelContext& context) {
  if (none_of(instructions(*thread.function), IsaPred<AtomicRMWInst>))
    return cut_with_lifted_points(thread, context);
  ValueToValueMapTy map;
  Function* before = CloneFunction(thread.function, map);
  if (set_atomics_apart(*thread.function)) {
    Cut cut = cut_with_lifted_points(thread, context);
    if (cut.plan.structured) {
      before->eraseFromParent();
      return cut;
    }
  }
  thread.function->eraseFromParent();
  thread.function = before;
  return cut_with_lifted_points(thread, context);
}

// So that the threads of a row are counted in 31 bits.
constexpr uint32_t most_merged_blocks = 1U << 20U;
// What threads of a row keep from round to round of a lockstep loop, or share, stays in the
// first-level cache, and what they access in a round is a stretch of memory long enough for the
// processor to fetch it ahead.
constexpr uint64_t most_kept_threads = 4096;
constexpr uint64_t most_shared_bytes = 16384;

// merge_rows() has neighbouring blocks run at once, of a kernel without shared memory whose blocks
// may run in any order among each other. Where threads meet, in lockstep loops alone, the blocks
// can be one row of threads only: what they keep is then numbered by their place in the row.
void merge_rows(KernelRegions& regions, Cut& cut, Function& function, const Dim3& block) {
  const bool meets = !regions.points.empty();
  const bool is_row =
      cut.plan.structured && (meets || cut.plan.branches.empty()) && regions.locals.empty() &&
      all_of(regions.points, [](const SyncPoint& point) { return point.is_lockstep; });
  const auto kept = static_cast<uint32_t>(most_kept_threads / block.count());
  regions.one_row = is_row && (!meets || kept > 1) && number_threads_by_row(function, block);
  if (regions.one_row) cut.uniformity = Uniformity(function, regions.points);  // of new sums
  if (meets && regions.one_row) regions.kept_blocks = kept;
  regions.most_blocks = meets ? regions.kept_blocks : most_merged_blocks;
}

// Whether the threads of neighbouring blocks with shared memory may go from one meeting to the next
// together: where they meet in barriers and lockstep loops only, and nobody waits for another
// block.
bool may_meet_with_neighbours(const ThreadFunction& thread, const KernelRegions& regions) {
  if (thread.shared_escapes || thread.shared_is_dynamic || !regions.locals.empty()) return false;
  const bool has_gain = any_of(regions.points, [](const SyncPoint& point) {
    return point.is_lockstep && point.result != nullptr;
  });
  return has_gain &&
         all_of(regions.points,
                [](const SyncPoint& point) {
                  return point.is_lockstep || (point.code.operation == SyncOperation::barrier &&
                                               !point.is_numbered && point.result == nullptr);
                }) &&
         none_of(instructions(*thread.function), [](const Instruction& instruction) {
           const auto* atomic = dyn_cast<AtomicRMWInst>(&instruction);
           if (atomic && atomic->use_empty() && !atomic->isVolatile()) return false;
           return instruction.isAtomic() || instruction.isVolatile() || isa<FenceInst>(instruction);
         });
}

// merge_neighbours() has such blocks run at once where their threads all take the same way: a
// grid-stride loop then goes through memory in stretches of several blocks.
void merge_neighbours(KernelRegions& regions, Cut& cut, const ThreadFunction& thread,
                      const Dim3& block) {
  const uint64_t shared = std::max<uint64_t>(thread.static_shared_bytes, 64);
  const auto kept = static_cast<uint32_t>(
      std::min(most_kept_threads / block.count(), most_shared_bytes / shared));
  if (kept < 2 || !cut.plan.structured || !may_meet_with_neighbours(thread, regions)) return;
  Uniformity uniformity(*thread.function, regions.points, true);
  RegionPlan plan = plan_regions(*thread.function, regions.points, uniformity);
  if (!plan.structured) return;
  cut.plan = std::move(plan);
  cut.uniformity = std::move(uniformity);
  regions.most_blocks = regions.kept_blocks = kept;
}

// know_ends() finds out which threads are left where; where that is known of all, nobody has to
// remember it, unless lanes that exchange do so by who is left.
void know_ends(KernelRegions& regions, const Function& function, const KernelContext& context) {
  DenseSet<const BasicBlock*> cuts(regions.branches.begin(), regions.branches.end());
  for (const SyncPoint& point : regions.points)
    cuts.insert(point.block);
  regions.entered_by_the_rest = entered_by_the_rest(function, cuts);
  if (regions.most_blocks > 1) return;
  regions.known_ends.emplace(function, context.block, cuts);
  const bool exchange = any_of(regions.points, [](const SyncPoint& point) {
    const SyncOperation operation = point.code.operation;
    return !point.is_lockstep && operation != SyncOperation::barrier &&
           operation != SyncOperation::meeting;
  });
  if (regions.known_ends->are_all() && !exchange) regions.early_exits = false;
}

}  // namespace

BlockBody emit_block_body(ThreadFunction& thread, const KernelContext& context,
                          ExchangePlan& layout) {
  drop_lifetimes(*thread.function);
  bool waits_for_blocks = false;
  if (context.kernel != SLUICE_MEGAKERNEL_NAME) {
    waits_for_blocks = insert_waits(*thread.function, context);
  }
  insert_warp_meetings(*thread.function, context.block);
  const bool stays_as_it_is = context.traced || context.kernel == SLUICE_MEGAKERNEL_NAME;
  if (!stays_as_it_is) roll_loops(*thread.function);
  Cut cut =
      stays_as_it_is ? cut_with_lockstep(thread, context) : cut_with_atomics_apart(thread, context);
  KernelRegions& regions = cut.regions;
  Function& function = *thread.function;
  regions.locals = find_locals(function);
  if (is_independent_of_blocks(function)) {
    merge_rows(regions, cut, function, context.block);
  } else if (!context.traced && !waits_for_blocks) {
    merge_neighbours(regions, cut, thread, context.block);
  }
  log::debug("kernel {} in blocks of {}x{}x{}: {}", context.kernel, context.block.x,
             context.block.y, context.block.z, told_way(regions, cut.plan.structured));
  std::vector<BasicBlock*> entries;
  for (const SyncPoint& point : regions.points)
    entries.push_back(point.after);
  if (cut.plan.structured) {
    regions.branches = cut.plan.branches;
    regions.early_exits = cut.plan.early_exits;
    for (BasicBlock* block : regions.branches) {
      for (BasicBlock* edge : split_edges(block))
        entries.push_back(edge);
    }
    if (regions.early_exits) know_ends(regions, function, context);
  }
  regions.live = keep_live_values(function, entries, cut.uniformity);

  const bool may_put_off = cut.plan.structured && !context.traced && !waits_for_blocks;
  std::optional<Reductions> reductions;
  if (may_put_off)
    reductions = Reductions::find(function, regions.most_blocks == 1 ? &context.block : nullptr);
  BodyFrame frame(thread, context, regions.kept_blocks);
  layout = reserve_exchange(frame, regions.points, !cut.plan.structured);
  if (reductions) reductions->reserve(frame);
  BlockBody body = cut.plan.structured ? emit_structured(frame, regions, layout)
                                       : emit_states(frame, regions, layout);
  make_shared_atomics_plain(*body.function, *body.function->getArg(2));
  if (reductions) reductions->collect(*body.function);
  // A variable of a thread may lie below shared memory.
  const bool shared_is_apart = !thread.shared_escapes && regions.locals.empty();
  mark_scopes(*body.function, {.memory = frame.memory,
                               .shared = shared_is_apart ? body.function->getArg(2) : nullptr,
                               .origin = frame.origin()});
  body.reductions = reductions;
  body.waits_for_blocks = waits_for_blocks;
  return body;
}

}  // namespace sluice::hostcuda::jit
