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

// votes_of() is where the threads of a lockstep loop say whether they go on; null for other cuts.
const RegionEmitter::Votes* RegionEmitter::votes_of(BasicBlock* cut) {
  const auto found = point_at_.find(cut);
  if (found == point_at_.end()) return nullptr;
  const SyncPoint& point = regions_.points[found->second];
  if (!point.is_lockstep || !point.result) return nullptr;
  Votes& votes = votes_[cut];
  if (!votes.any) {
    std::vector<BasicBlock*> entries{&frame_.thread.function->getEntryBlock()};
    for (const SyncPoint& each : regions_.points)
      entries.push_back(each.after);
    for (BasicBlock* branch : regions_.branches)
      entries.insert(entries.end(), succ_begin(branch), succ_end(branch));
    const bool together = may_go_together(
        point, entries, [&](BasicBlock* entry) { return blocks_of(entry); }, regions_.live);
    IRBuilder<> ir(frame_.entry, frame_.entry->begin());
    votes = {ir.CreateAlloca(ir.getInt32Ty(), nullptr, "any"),
             ir.CreateAlloca(ir.getInt32Ty(), nullptr, "all"),
             ir.CreateAlloca(ir.getInt1Ty(), nullptr, "differ"), together};
  }
  return &votes;
}

// read_any() reads, in front of the loops over threads of the region that starts at `entry`, what
// the threads said at the cut before it; null where that is no lockstep loop's. The region may
// end at the same cut, where its threads write the variable anew while others have yet to begin.
Value* RegionEmitter::read_any(BasicBlock* entry, BasicBlock* start) {
  const auto point = find_if(regions_.points,
                             [&](const SyncPoint& candidate) { return candidate.after == entry; });
  const Votes* votes = point == regions_.points.end() ? nullptr : votes_of(point->block);
  if (!votes) return nullptr;
  IRBuilder<> ir(start);
  return ir.CreateIsNotNull(ir.CreateLoad(ir.getInt32Ty(), votes->any));
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
  Value* any_before = read_any(entry, start);
  IRBuilder<> ir(start);
  std::optional<LockstepRound> round;
  for (BasicBlock* block : blocks) {
    const Votes* votes = votes_of(block);
    if (!votes) continue;
    ir.CreateStore(ir.getInt32(0), votes->any);
    ir.CreateStore(ir.getInt32(1), votes->all);
    if (votes->go_together) {
      round = LockstepRound::of(entry, blocks, *point_of(block), regions_.live);
    }
  }
  const KeptValues::UniformValues uniform_values = kept_.read_uniform(ir, entry);
  const Pass whole{entry, blocks, start, warp, any_before, uniform_values};
  return round ? emit_round(whole, *round) : emit_pass(whole);
}

// emit_round() emits a round of a lockstep loop twice where it goes on from one before it: for
// threads that are all in the loop, as they are until the first has been through, and for others.
RegionEnd RegionEmitter::emit_round(const Pass& whole, const LockstepRound& round) {
  LLVMContext& context = frame_.llvm_context();
  const auto make = [&](const char* name) {
    return BasicBlock::Create(context, name, frame_.function);
  };
  BasicBlock* done = make("round.done");
  if (!round.goes_on) return emit_together(whole, round, done);
  IRBuilder<> ir(whole.start);
  BasicBlock* together = make("round.together");
  BasicBlock* apart = make("round.apart");
  const Votes& votes = *votes_of(round.cut);
  Value* differ = ir.CreateLoad(ir.getInt1Ty(), votes.differ);
  Value* is_apart = whole.any_before ? ir.CreateOr(differ, ir.CreateNot(whole.any_before)) : differ;
  ir.CreateCondBr(is_apart, apart, together);
  Pass pass = whole;
  pass.start = apart;
  BranchInst::Create(done, emit_pass(pass).done);
  pass.start = together;
  pass.all_inside = true;
  if (pass.any_before) pass.any_before = ir.getTrue();
  return emit_together(pass, round, done);
}

// emit_together() emits a round at whose end threads keep what they say only if they differ, where
// a second pass can tell it again.
RegionEnd RegionEmitter::emit_together(const Pass& pass, const LockstepRound& round,
                                       BasicBlock* done) {
  Pass each = pass;
  each.round = round.can_be_told_again ? &round : nullptr;
  RegionEnd end = emit_pass(each);
  const Votes& votes = *votes_of(end.cut);
  IRBuilder<> ir(end.done);
  Value* any = ir.CreateIsNotNull(ir.CreateLoad(ir.getInt32Ty(), votes.any));
  Value* all = ir.CreateIsNotNull(ir.CreateLoad(ir.getInt32Ty(), votes.all));
  Value* differ = ir.CreateAnd(any, ir.CreateNot(all));
  ir.CreateStore(differ, votes.differ);
  end.done = done;
  if (!each.round) {
    ir.CreateBr(done);
    return end;
  }
  each.start = BasicBlock::Create(ir.getContext(), "round.differs", frame_.function);
  each.says_again = true;
  ir.CreateCondBr(differ, each.start, done);
  BranchInst::Create(done, emit_pass(each).done);
  return end;
}

RegionEnd RegionEmitter::emit_pass(const Pass& pass) {
  ValueToValueMapTy map;
  const RegionSlots slots = kept_.enter(pass.blocks, pass.uniform_values, map);
  if (const auto cut = find_if(pass.blocks, [&](BasicBlock* block) { return is_cut(block); });
      cut != pass.blocks.end()) {
    IRBuilder<> ir(pass.start);
    kept_.forget(ir, pass.blocks, entries_after(*cut), slots, pass);
  }
  const ThreadLoops loops =
      pass.warp ? open_lane_loop(pass.start, *pass.warp)
                : open_thread_loops(pass.start, frame_.context.block,
                                    {regions_.most_blocks > 1 ? frame_.block_count() : nullptr,
                                     regions_.one_row, regions_.kept_blocks});
  frame_.map_arguments(map, loops);

  IRBuilder<> ir(loops.body);
  skip_the_ended(ir, *pass.entry, loops);
  locals_.map_places(ir, loops, map);
  kept_.load(ir, pass.entry, slots, loops);

  const ArrayRef<BasicBlock*> blocks = pass.blocks.getArrayRef();
  clone_blocks(blocks, frame_, map);
  if (pass.says_again) drop_accesses(pass.blocks, regions_.live, regions_.points, map);
  std::vector<BasicBlock*> copies;
  for (BasicBlock* block : blocks)
    copies.push_back(cast<BasicBlock>(map.lookup(block)));
  ir.CreateBr(cast<BasicBlock>(map.lookup(pass.entry)));
  RegionEnd end{.done = loops.done};
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (is_cut(blocks[i])) {
      SLUICE_ASSERT(!end.cut);
      end.cut = blocks[i];
      end.condition = end_at_cut(blocks[i], pass, copies[i], slots, loops);
    } else if (isa<ReturnInst>(blocks[i]->getTerminator())) {
      end.ends = true;
      end_thread(pass, copies[i], loops);
    }
  }
  remap_blocks(blocks, loops, map);
  for (BasicBlock* block : blocks)
    replace_results(*block, pass.any_before, map, loops);
  if (pass.all_inside) {
    auto* head = cast<BranchInst>(map.lookup(pass.round->head));
    head->setCondition(ConstantInt::getTrue(head->getContext()));
  }
  if (pass.warp) fold_lanes(blocks, *pass.warp, loops, map);
  return end;
}

// Threads that have ended, by their numbers or by what they left, take no part.
void RegionEmitter::skip_the_ended(IRBuilder<>& ir, BasicBlock& entry, const ThreadLoops& loops) {
  const auto go_on_if = [&](Value* is_left) {
    BasicBlock* run = BasicBlock::Create(frame_.llvm_context(), "run", frame_.function);
    ir.CreateCondBr(is_left, run, loops.latch);
    ir.SetInsertPoint(run);
  };
  if (regions_.known_ends) {
    const uint32_t first_gone = regions_.known_ends->first_gone(entry);
    if (first_gone != frame_.context.block.count())
      go_on_if(ir.CreateICmpULT(loops.linear, ir.getInt64(first_gone)));
  }
  if (regions_.early_exits && regions_.entered_by_the_rest.contains(&entry)) {
    BasicBlock* asks = ir.GetInsertBlock();
    Value* alive = ir.CreateLoad(ir.getInt8Ty(), frame_.element(ir, alive_, 1, loops.linear));
    go_on_if(ir.CreateICmpNE(alive, ir.getInt8(0)));
    mark_independent(*asks, loops);
  }
}

std::vector<BasicBlock*> RegionEmitter::entries_after(BasicBlock* cut) const {
  if (const SyncPoint* point = point_of(cut)) return {point->after};
  return std::vector<BasicBlock*>(succ_begin(cut), succ_end(cut));
}

// Stores what later regions read and this one has written, and ends the thread's part. Returns
// the variable with a uniform branch's condition.
AllocaInst* RegionEmitter::end_at_cut(BasicBlock* cut, const Pass& pass, BasicBlock* copy,
                                      const RegionSlots& slots, const ThreadLoops& loops) {
  AllocaInst* condition = nullptr;
  auto found = point_at_.find(cut);
  Instruction* end = copy->getTerminator();
  if (found != point_at_.end()) {
    auto* call = cast<CallInst>(std::prev(end->getIterator()));
    if (votes_of(cut)) {
      if (!pass.says_again) vote(cut, *call);
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
  kept_.store(ir, pass.blocks, entries_after(cut), slots, loops, pass);
  ir.CreateBr(loops.latch);
  end->eraseFromParent();
  return condition;
}

void RegionEmitter::vote(BasicBlock* cut, CallInst& call) {
  IRBuilder<> ir(&call);
  const Votes& votes = *votes_of(cut);
  Value* mine = ir.CreateZExt(call.getArgOperand(0), ir.getInt32Ty());
  ir.CreateStore(ir.CreateOr(ir.CreateLoad(ir.getInt32Ty(), votes.any), mine), votes.any);
  ir.CreateStore(ir.CreateAnd(ir.CreateLoad(ir.getInt32Ty(), votes.all), mine), votes.all);
}

void RegionEmitter::end_thread(const Pass& pass, BasicBlock* copy, const ThreadLoops& loops) {
  Instruction* end = copy->getTerminator();
  IRBuilder<> ir(end);
  if (regions_.early_exits && !pass.says_again) {
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
    if (votes_of(point.block)) {
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
