#include "hostcuda/jit/block/region_emitter.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "base/assert.hpp"
#include "hostcuda/jit/threads/lane_numbers.hpp"

namespace sluice::hostcuda::jit {

using namespace llvm;

RegionEmitter::RegionEmitter(BodyFrame& frame, const KernelRegions& regions, ExchangePlan& layout,
                             bool by_warps, ArrayRef<BasicBlock*> block_entries)
    : frame_(frame),
      regions_(regions),
      layout_(layout),
      locals_(frame, regions.locals, !regions.points.empty()),
      kept_(frame, regions.live, by_warps, block_entries),
      alive_(regions.early_exits ? frame.layout.reserve(frame.kept_threads()) : 0),
      exchange_(frame, regions.points, alive_, by_warps) {
  for (size_t i = 0; i < regions.points.size(); ++i)
    point_at_[regions.points[i].block] = i;
  branches_.insert(regions.branches.begin(), regions.branches.end());
  if (!regions.early_exits) return;
  IRBuilder<> ir(frame.entry);
  const uint64_t threads = frame.kept_threads();
  Value* array = frame.element(ir, alive_, 1, ir.getInt64(0));
  ir.CreateMemSet(array, ir.getInt8(0), alignTo(threads, 32), Align(64));
  ir.CreateMemSet(array, ir.getInt8(1), threads, Align(64));
  alive_count_ = ir.CreateAlloca(ir.getInt32Ty(), nullptr, "alive");
  Value* count = ir.getInt32(static_cast<uint32_t>(frame.context.block.count()));
  if (regions.kept_blocks > 1) count = ir.CreateMul(count, frame.block_count());
  ir.CreateStore(count, alive_count_);
}

const SyncPoint* RegionEmitter::point_of(BasicBlock* cut) const {
  const auto found = point_at_.find(cut);
  return found == point_at_.end() ? nullptr : &regions_.points[found->second];
}

// any_of_cut() is the variable in which the threads of a lockstep loop say whether any goes on;
// null for other cuts.
AllocaInst* RegionEmitter::any_of_cut(BasicBlock* cut) {
  const auto found = point_at_.find(cut);
  if (found == point_at_.end()) return nullptr;
  const SyncPoint& point = regions_.points[found->second];
  if (!point.is_lockstep || !point.result) return nullptr;
  AllocaInst*& variable = any_[cut];
  if (!variable) {
    IRBuilder<> ir(frame_.entry, frame_.entry->begin());
    variable = ir.CreateAlloca(ir.getInt32Ty(), nullptr, "any");
  }
  return variable;
}

// read_any() reads, in front of the loops over threads of the region that starts at `entry`, what
// the threads said at the cut before it; null where that is no lockstep loop's. The region may
// end at the same cut, where its threads write the variable anew while others have yet to begin.
Value* RegionEmitter::read_any(BasicBlock* entry, BasicBlock* start) {
  const auto point = find_if(regions_.points,
                             [&](const SyncPoint& candidate) { return candidate.after == entry; });
  AllocaInst* any = point == regions_.points.end() ? nullptr : any_of_cut(point->block);
  if (!any) return nullptr;
  IRBuilder<> ir(start);
  return ir.CreateIsNotNull(ir.CreateLoad(any->getAllocatedType(), any));
}

bool RegionEmitter::is_cut(BasicBlock* block) const {
  return point_at_.count(block) != 0 || branches_.contains(block);
}

BlockSet RegionEmitter::blocks_of(BasicBlock* entry) const {
  BlockSet blocks;
  blocks.insert(entry);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (is_cut(blocks[i])) continue;
    for (BasicBlock* successor : successors(blocks[i]))
      blocks.insert(successor);
  }
  return blocks;
}

RegionEnd RegionEmitter::emit(BasicBlock* entry, BasicBlock* start, const WarpLoops* warp) {
  const BlockSet blocks = blocks_of(entry);
  ValueToValueMapTy map;
  Value* any_before = read_any(entry, start);
  for (BasicBlock* block : blocks) {
    if (AllocaInst* any = any_of_cut(block)) {
      IRBuilder<>(start).CreateStore(Constant::getNullValue(any->getAllocatedType()), any);
    }
  }
  const RegionSlots slots = kept_.enter(entry, blocks, start, map);
  const ThreadLoops loops =
      warp ? open_lane_loop(start, *warp)
           : open_thread_loops(start, frame_.context.block,
                               {regions_.most_blocks > 1 ? frame_.block_count() : nullptr,
                                regions_.one_row, regions_.kept_blocks});
  frame_.map_arguments(map, loops);

  IRBuilder<> ir(loops.body);
  if (regions_.early_exits) skip_the_exited(ir, loops);
  locals_.map_places(ir, loops, map);
  kept_.load(ir, entry, slots, loops);

  clone_blocks(blocks.getArrayRef(), frame_, map);
  ir.CreateBr(cast<BasicBlock>(map.lookup(entry)));
  RegionEnd end{.done = loops.done};
  for (BasicBlock* block : blocks) {
    auto* copy = cast<BasicBlock>(map.lookup(block));
    if (is_cut(block)) {
      SLUICE_ASSERT(!end.cut);
      end.cut = block;
      end.condition = end_at_cut(block, copy, blocks, slots, loops);
    } else if (isa<ReturnInst>(block->getTerminator())) {
      end.ends = true;
      end_thread(copy, loops);
    }
  }
  remap_blocks(blocks.getArrayRef(), loops, map);
  for (BasicBlock* block : blocks)
    replace_results(*block, any_before, map, loops);
  if (warp) fold_lanes(blocks.getArrayRef(), *warp, loops, map);
  return end;
}

void RegionEmitter::skip_the_exited(IRBuilder<>& ir, const ThreadLoops& loops) {
  Value* alive = ir.CreateLoad(ir.getInt8Ty(), frame_.element(ir, alive_, 1, loops.linear));
  BasicBlock* run = BasicBlock::Create(frame_.llvm_context(), "run", frame_.function);
  ir.CreateCondBr(ir.CreateICmpNE(alive, ir.getInt8(0)), run, loops.latch);
  mark_independent(*loops.body, loops);
  ir.SetInsertPoint(run);
}

std::vector<BasicBlock*> RegionEmitter::entries_after(BasicBlock* cut) const {
  if (const SyncPoint* point = point_of(cut)) return {point->after};
  return std::vector<BasicBlock*>(succ_begin(cut), succ_end(cut));
}

// Stores what later regions read and this one has written, and ends the thread's part. Returns
// the variable with a uniform branch's condition.
AllocaInst* RegionEmitter::end_at_cut(BasicBlock* cut, BasicBlock* copy, const BlockSet& blocks,
                                      const RegionSlots& slots, const ThreadLoops& loops) {
  AllocaInst* condition = nullptr;
  auto found = point_at_.find(cut);
  Instruction* end = copy->getTerminator();
  if (found != point_at_.end()) {
    auto* call = cast<CallInst>(std::prev(end->getIterator()));
    if (AllocaInst* any = any_of_cut(cut)) {
      IRBuilder<> ir(end);
      Value* before = ir.CreateLoad(any->getAllocatedType(), any);
      Value* mine = ir.CreateZExt(call->getArgOperand(0), any->getAllocatedType());
      ir.CreateStore(ir.CreateOr(before, mine), any);
    } else if (WarpExchange::takes(regions_.points[found->second])) {
      exchange_.bring(*call, loops);
    } else if (!regions_.points[found->second].is_lockstep) {
      emit_operands(*call, frame_, layout_, loops.linear);
    }
    call->eraseFromParent();
  } else {
    IRBuilder<> entry_ir(frame_.entry, frame_.entry->begin());
    Value* value = end->getOperand(0);
    condition = entry_ir.CreateAlloca(value->getType(), nullptr, "condition");
    IRBuilder<>(end).CreateStore(value, condition);
  }
  IRBuilder<> ir(end);
  kept_.store(ir, blocks, entries_after(cut), slots, loops);
  ir.CreateBr(loops.latch);
  end->eraseFromParent();
  return condition;
}

void RegionEmitter::end_thread(BasicBlock* copy, const ThreadLoops& loops) {
  Instruction* end = copy->getTerminator();
  IRBuilder<> ir(end);
  if (regions_.early_exits) {
    ir.CreateStore(ir.getInt8(0), frame_.element(ir, alive_, 1, loops.linear));
    Value* count = ir.CreateLoad(ir.getInt32Ty(), alive_count_);
    ir.CreateStore(ir.CreateSub(count, ir.getInt32(1)), alive_count_);
  }
  ir.CreateBr(loops.latch);
  end->eraseFromParent();
}

void RegionEmitter::replace_results(BasicBlock& block, Value* any_before, ValueToValueMapTy& map,
                                    const ThreadLoops& loops) {
  for (const SyncPoint& point : regions_.points) {
    if (point.after != &block || !point.result) continue;
    if (any_of_cut(point.block)) {
      auto* placeholder = cast<CallInst>(map.lookup(point.result));
      placeholder->replaceAllUsesWith(any_before);
      placeholder->eraseFromParent();
      continue;
    }
    auto& placeholder = *cast<CallInst>(map.lookup(point.result));
    if (WarpExchange::takes(point)) {
      exchange_.give(placeholder, point, loops);
    } else {
      emit_result(placeholder, point.code, frame_, layout_, loops.linear);
    }
  }
}

}  // namespace sluice::hostcuda::jit
