#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "base/assert.hpp"
#include "hostcuda/jit/block/block_body.hpp"
#include "hostcuda/jit/block/call_runtime.hpp"
#include "hostcuda/jit/block/kept_values.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

class StructuredEmitter {
 public:
  StructuredEmitter(BodyFrame& frame, const KernelRegions& regions, ExchangePlan& layout)
      : frame_(frame),
        regions_(regions),
        layout_(layout),
        locals_(frame, regions.locals, !regions.points.empty()),
        kept_(frame, regions.live) {
    for (size_t i = 0; i < regions.points.size(); ++i)
      point_at_[regions.points[i].block] = i;
    branches_.insert(regions.branches.begin(), regions.branches.end());
  }

  BlockBody emit() {
    finish_ = BasicBlock::Create(frame_.llvm_context(), "finish", frame_.function);
    ReturnInst::Create(frame_.llvm_context(), finish_);
    IRBuilder<> ir(frame_.entry);
    if (regions_.early_exits) {
      const uint64_t threads = frame_.context.block.count();
      alive_ = frame_.layout.reserve(threads);
      Value* array = frame_.element(ir, alive_, 1, ir.getInt64(0));
      ir.CreateMemSet(array, ir.getInt8(1), threads, Align(64));
      alive_count_ = ir.CreateAlloca(ir.getInt32Ty(), nullptr, "alive");
      ir.CreateStore(ir.getInt32(static_cast<uint32_t>(threads)), alive_count_);
    }
    ir.CreateBr(start_of(&frame_.thread.function->getEntryBlock()));
    while (!pending_.empty()) {
      BasicBlock* entry = pending_.back();
      pending_.pop_back();
      emit_region(entry);
    }
    return {frame_.function, frame_.layout.bytes(), locals_.bytes_below_shared(),
            regions_.merges_rows};
  }

 private:
  BasicBlock* start_of(BasicBlock* entry) {
    BasicBlock*& start = starts_[entry];
    if (!start) {
      start = BasicBlock::Create(frame_.llvm_context(), "region", frame_.function);
      pending_.push_back(entry);
    }
    return start;
  }

  // any_of_cut() is the variable in which the threads of a lockstep loop say whether any goes on;
  // null for other cuts.
  AllocaInst* any_of_cut(BasicBlock* cut) {
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
  Value* read_any(BasicBlock* entry, BasicBlock* start) {
    const auto point = find_if(
        regions_.points, [&](const SyncPoint& candidate) { return candidate.after == entry; });
    AllocaInst* any = point == regions_.points.end() ? nullptr : any_of_cut(point->block);
    if (!any) return nullptr;
    IRBuilder<> ir(start);
    return ir.CreateIsNotNull(ir.CreateLoad(any->getAllocatedType(), any));
  }

  bool is_cut(BasicBlock* block) const {
    return point_at_.count(block) != 0 || branches_.contains(block);
  }

  BlockSet blocks_of(BasicBlock* entry) const {
    BlockSet blocks;
    blocks.insert(entry);
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (is_cut(blocks[i])) continue;
      for (BasicBlock* successor : successors(blocks[i]))
        blocks.insert(successor);
    }
    return blocks;
  }

  void emit_region(BasicBlock* entry) {
    const BlockSet blocks = blocks_of(entry);
    BasicBlock* start = starts_.lookup(entry);
    ValueToValueMapTy map;
    Value* any_before = read_any(entry, start);
    for (BasicBlock* block : blocks) {
      if (AllocaInst* any = any_of_cut(block)) {
        IRBuilder<>(start).CreateStore(Constant::getNullValue(any->getAllocatedType()), any);
      }
    }
    const RegionSlots slots = kept_.enter(entry, blocks, start, map);
    const ThreadLoops loops = open_thread_loops(
        start, frame_.context.block, regions_.merges_rows ? frame_.block_count() : nullptr,
        regions_.has_row_threads);
    frame_.map_arguments(map, loops);

    IRBuilder<> ir(loops.body);
    if (regions_.early_exits) skip_the_exited(ir, loops);
    locals_.map_places(ir, loops, map);
    kept_.load(ir, entry, slots, loops);

    clone_blocks(blocks.getArrayRef(), frame_, map);
    ir.CreateBr(cast<BasicBlock>(map.lookup(entry)));
    BasicBlock* cut = nullptr;
    bool ends = false;
    AllocaInst* condition = nullptr;
    for (BasicBlock* block : blocks) {
      auto* copy = cast<BasicBlock>(map.lookup(block));
      if (is_cut(block)) {
        SLUICE_ASSERT(!cut);
        cut = block;
        condition = end_at_cut(block, copy, blocks, slots, loops);
      } else if (isa<ReturnInst>(block->getTerminator())) {
        ends = true;
        end_thread(copy, loops);
      }
    }
    remap_blocks(blocks.getArrayRef(), loops, map);
    for (BasicBlock* block : blocks)
      replace_results(*block, any_before, map, loops);
    go_on(loops.done, cut, ends, condition);
  }

  void skip_the_exited(IRBuilder<>& ir, const ThreadLoops& loops) {
    Value* alive = ir.CreateLoad(ir.getInt8Ty(), frame_.element(ir, alive_, 1, loops.linear));
    BasicBlock* run = BasicBlock::Create(frame_.llvm_context(), "run", frame_.function);
    ir.CreateCondBr(ir.CreateICmpNE(alive, ir.getInt8(0)), run, loops.latch);
    mark_independent(*loops.body, loops);
    ir.SetInsertPoint(run);
  }

  std::vector<BasicBlock*> entries_after(BasicBlock* cut) const {
    auto found = point_at_.find(cut);
    if (found != point_at_.end()) return {regions_.points[found->second].after};
    return std::vector<BasicBlock*>(succ_begin(cut), succ_end(cut));
  }

  // Stores what later regions read and this one has written, and ends the thread's part. Returns
  // the variable with a uniform branch's condition.
  AllocaInst* end_at_cut(BasicBlock* cut, BasicBlock* copy, const BlockSet& blocks,
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

  void end_thread(BasicBlock* copy, const ThreadLoops& loops) {
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

  void replace_results(BasicBlock& block, Value* any_before, ValueToValueMapTy& map,
                       const ThreadLoops& loops) {
    for (const SyncPoint& point : regions_.points) {
      if (point.after != &block || !point.result) continue;
      if (any_of_cut(point.block)) {
        auto* placeholder = cast<CallInst>(map.lookup(point.result));
        placeholder->replaceAllUsesWith(any_before);
        placeholder->eraseFromParent();
        continue;
      }
      emit_result(*cast<CallInst>(map.lookup(point.result)), point.code, frame_, layout_,
                  loops.linear);
    }
  }

  // After the loops over threads: the exchange, the uniform branch, or the block's end.
  void go_on(BasicBlock* done, BasicBlock* cut, bool ends, AllocaInst* condition) {
    IRBuilder<> ir(done);
    if (!cut) {
      ir.CreateBr(finish_);
      return;
    }
    if (ends && regions_.early_exits) {
      BasicBlock* some = BasicBlock::Create(frame_.llvm_context(), "some.alive", frame_.function);
      Value* count = ir.CreateLoad(ir.getInt32Ty(), alive_count_);
      ir.CreateCondBr(ir.CreateICmpEQ(count, ir.getInt32(0)), finish_, some);
      ir.SetInsertPoint(some);
    }
    auto found = point_at_.find(cut);
    if (found != point_at_.end()) {
      const SyncPoint& point = regions_.points[found->second];
      const SyncOperation operation = point.code.operation;
      if (operation != SyncOperation::barrier && operation != SyncOperation::yield &&
          operation != SyncOperation::meeting && !point.is_lockstep) {
        Value* alive = regions_.early_exits ? frame_.element(ir, alive_, 1, ir.getInt64(0))
                                            : ConstantPointerNull::get(ir.getPtrTy());
        call_exchange(ir, layout_, static_cast<uint32_t>(found->second), frame_.memory, alive);
      }
      ir.CreateBr(start_of(point.after));
      return;
    }
    Instruction* branch = cut->getTerminator()->clone();
    branch->setMetadata(LLVMContext::MD_loop, nullptr);
    branch->setOperand(0, ir.CreateLoad(condition->getAllocatedType(), condition));
    for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
      branch->setSuccessor(i, start_of(cut->getTerminator()->getSuccessor(i)));
    }
    ir.Insert(branch);
  }

  BodyFrame& frame_;
  const KernelRegions& regions_;
  ExchangePlan& layout_;
  ThreadLocals locals_;
  KeptValues kept_;
  DenseMap<BasicBlock*, size_t> point_at_;
  DenseSet<BasicBlock*> branches_;
  DenseMap<BasicBlock*, AllocaInst*> any_;
  DenseMap<BasicBlock*, BasicBlock*> starts_;
  std::vector<BasicBlock*> pending_;
  BasicBlock* finish_ = nullptr;
  uint64_t alive_ = 0;
  AllocaInst* alive_count_ = nullptr;
};

}  // namespace

BlockBody emit_structured(BodyFrame& frame, const KernelRegions& regions, ExchangePlan& layout) {
  return StructuredEmitter(frame, regions, layout).emit();
}

}  // namespace sluice::hostcuda::jit
