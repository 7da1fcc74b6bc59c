#include <set>

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/block_body.hpp"
#include "hostcuda/jit/call_runtime.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

class StructuredEmitter {
 public:
  StructuredEmitter(BodyFrame& frame, const KernelRegions& regions, ExchangeLayout& layout)
      : frame_(frame),
        regions_(regions),
        layout_(layout),
        locals_(frame, regions.locals, !regions.points.empty()) {
    for (size_t i = 0; i < regions.points.size(); ++i)
      point_at_[regions.points[i].block] = i;
    branches_.insert(regions.branches.begin(), regions.branches.end());
  }

  BlockBody emit() {
    finish_ = BasicBlock::Create(frame_.llvm_context(), "finish", frame_.function);
    ReturnInst::Create(frame_.llvm_context(), finish_);
    reserve_slots();
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
  // Uniform values live in variables of the block function, which become registers; others in
  // arrays with one element a thread.
  struct Kept {
    AllocaInst* variable = nullptr;
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };

  void reserve_slots() {
    const DataLayout& layout = frame_.function->getParent()->getDataLayout();
    IRBuilder<> ir(frame_.entry, frame_.entry->begin());
    for (const Slot& slot : regions_.live.slots) {
      Kept kept;
      kept.bytes = layout.getTypeAllocSize(slot.storage->getAllocatedType());
      if (slot.uniform) {
        kept.variable = ir.CreateAlloca(slot.storage->getAllocatedType(), nullptr, "uniform");
      } else {
        kept.offset = frame_.layout.reserve(kept.bytes * frame_.context.block.count());
      }
      kept_.push_back(kept);
    }
  }

  BasicBlock* start_of(BasicBlock* entry) {
    BasicBlock*& start = starts_[entry];
    if (!start) {
      start = BasicBlock::Create(frame_.llvm_context(), "region", frame_.function);
      pending_.push_back(entry);
    }
    return start;
  }

  bool is_cut(BasicBlock* block) const {
    return point_at_.count(block) != 0 || branches_.contains(block);
  }

  SetVector<BasicBlock*> blocks_of(BasicBlock* entry) const {
    SetVector<BasicBlock*> blocks;
    blocks.insert(entry);
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (is_cut(blocks[i])) continue;
      for (BasicBlock* successor : successors(blocks[i]))
        blocks.insert(successor);
    }
    return blocks;
  }

  void emit_region(BasicBlock* entry) {
    const SetVector<BasicBlock*> blocks = blocks_of(entry);
    BasicBlock* start = starts_.lookup(entry);
    ValueToValueMapTy map;
    std::vector<AllocaInst*> variables = make_variables(blocks, map);
    const std::vector<Value*> uniform_values = load_uniform(entry, start);
    const ThreadLoops loops = open_thread_loops(
        start, frame_.context.block, regions_.merges_rows ? frame_.block_count() : nullptr);
    frame_.map_arguments(map, loops);

    IRBuilder<> ir(loops.body);
    if (regions_.early_exits) skip_the_exited(ir, loops);
    locals_.map_places(ir, loops, map);
    load_kept(entry, uniform_values, variables, ir, loops);

    clone_blocks(blocks.getArrayRef(), frame_, map);
    ir.CreateBr(cast<BasicBlock>(map.lookup(entry)));
    BasicBlock* cut = nullptr;
    bool ends = false;
    AllocaInst* condition = nullptr;
    for (BasicBlock* block : blocks) {
      auto* copy = cast<BasicBlock>(map.lookup(block));
      if (is_cut(block)) {
        cut = block;
        condition = end_at_cut(block, copy, blocks, variables, loops);
      } else if (isa<ReturnInst>(block->getTerminator())) {
        ends = true;
        end_thread(copy, loops);
      }
    }
    remap_blocks(blocks.getArrayRef(), loops, map);
    for (BasicBlock* block : blocks)
      replace_results(*block, map, loops);
    go_on(loops.done, cut, ends, condition);
  }

  // A variable for each slot that the region touches stands for the slot in its copy.
  std::vector<AllocaInst*> make_variables(const SetVector<BasicBlock*>& blocks,
                                          ValueToValueMapTy& map) {
    std::vector<AllocaInst*> variables(kept_.size());
    IRBuilder<> ir(frame_.entry, frame_.entry->begin());
    for (size_t i = 0; i < kept_.size(); ++i) {
      AllocaInst* storage = regions_.live.slots[i].storage;
      const bool touched = any_of(storage->users(), [&](User* user) {
        return blocks.contains(cast<Instruction>(user)->getParent());
      });
      const bool in_entry = blocks.contains(storage->getParent());
      if (!touched && !in_entry) continue;
      variables[i] = ir.CreateAlloca(storage->getAllocatedType(), nullptr, "kept");
      map[storage] = variables[i];
    }
    return variables;
  }

  // All threads start from the values that the last region left, so these are read before any
  // thread of this region writes them.
  std::vector<Value*> load_uniform(BasicBlock* entry, BasicBlock* start) {
    std::vector<Value*> values(kept_.size());
    IRBuilder<> ir(start);
    for (unsigned i : live_in(entry)) {
      if (AllocaInst* variable = kept_[i].variable) {
        values[i] = ir.CreateLoad(variable->getAllocatedType(), variable);
      }
    }
    return values;
  }

  const std::vector<unsigned>& live_in(BasicBlock* entry) const {
    static const std::vector<unsigned> none;
    auto found = regions_.live.live_in.find(entry);
    return found == regions_.live.live_in.end() ? none : found->second;
  }

  void skip_the_exited(IRBuilder<>& ir, const ThreadLoops& loops) {
    Value* alive = ir.CreateLoad(ir.getInt8Ty(), frame_.element(ir, alive_, 1, loops.linear));
    BasicBlock* run = BasicBlock::Create(frame_.llvm_context(), "run", frame_.function);
    ir.CreateCondBr(ir.CreateICmpNE(alive, ir.getInt8(0)), run, loops.latch);
    mark_independent(*loops.body, loops);
    ir.SetInsertPoint(run);
  }

  void load_kept(BasicBlock* entry, const std::vector<Value*>& uniform_values,
                 const std::vector<AllocaInst*>& variables, IRBuilder<>& ir,
                 const ThreadLoops& loops) {
    for (unsigned i : live_in(entry)) {
      if (!variables[i]) continue;
      Value* value = uniform_values[i];
      if (!value) {
        value = ir.CreateLoad(variables[i]->getAllocatedType(),
                              frame_.element(ir, kept_[i].offset, kept_[i].bytes, loops.linear));
      }
      ir.CreateStore(value, variables[i]);
    }
    mark_independent(*ir.GetInsertBlock(), loops);
  }

  std::vector<BasicBlock*> entries_after(BasicBlock* cut) const {
    auto found = point_at_.find(cut);
    if (found != point_at_.end()) return {regions_.points[found->second].after};
    return std::vector<BasicBlock*>(succ_begin(cut), succ_end(cut));
  }

  // Stores what later regions read and this one has written, and ends the thread's part. Returns
  // the variable with a uniform branch's condition.
  AllocaInst* end_at_cut(BasicBlock* cut, BasicBlock* copy, const SetVector<BasicBlock*>& blocks,
                         const std::vector<AllocaInst*>& variables, const ThreadLoops& loops) {
    AllocaInst* condition = nullptr;
    auto found = point_at_.find(cut);
    Instruction* end = copy->getTerminator();
    if (found != point_at_.end()) {
      auto* call = cast<IntrinsicInst>(std::prev(end->getIterator()));
      emit_operands(*call, frame_, layout_, loops.linear);
      call->eraseFromParent();
    } else {
      IRBuilder<> entry_ir(frame_.entry, frame_.entry->begin());
      Value* value = end->getOperand(0);
      condition = entry_ir.CreateAlloca(value->getType(), nullptr, "condition");
      IRBuilder<>(end).CreateStore(value, condition);
    }
    IRBuilder<> ir(end);
    std::set<unsigned> live;
    for (BasicBlock* entry : entries_after(cut)) {
      live.insert(live_in(entry).begin(), live_in(entry).end());
    }
    for (unsigned i : live) {
      if (!variables[i] || !is_written(i, blocks)) continue;
      Value* value = ir.CreateLoad(variables[i]->getAllocatedType(), variables[i]);
      Value* place = kept_[i].variable
                         ? static_cast<Value*>(kept_[i].variable)
                         : frame_.element(ir, kept_[i].offset, kept_[i].bytes, loops.linear);
      ir.CreateStore(value, place);
    }
    ir.CreateBr(loops.latch);
    end->eraseFromParent();
    return condition;
  }

  bool is_written(unsigned slot, const SetVector<BasicBlock*>& blocks) const {
    return any_of(regions_.live.slots[slot].storage->users(), [&](User* user) {
      return isa<StoreInst>(user) && blocks.contains(cast<Instruction>(user)->getParent());
    });
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

  void replace_results(BasicBlock& block, ValueToValueMapTy& map, const ThreadLoops& loops) {
    for (const SyncPoint& point : regions_.points) {
      if (point.after != &block || !point.result) continue;
      emit_result(*cast<CallInst>(map.lookup(point.result)), frame_, layout_, loops.linear);
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
      if (point.operation != SyncOperation::barrier) {
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
  ExchangeLayout& layout_;
  ThreadLocals locals_;
  DenseMap<BasicBlock*, size_t> point_at_;
  DenseSet<BasicBlock*> branches_;
  std::vector<Kept> kept_;
  DenseMap<BasicBlock*, BasicBlock*> starts_;
  std::vector<BasicBlock*> pending_;
  BasicBlock* finish_ = nullptr;
  uint64_t alive_ = 0;
  AllocaInst* alive_count_ = nullptr;
};

}  // namespace

BlockBody emit_structured(BodyFrame& frame, const KernelRegions& regions, ExchangeLayout& layout) {
  return StructuredEmitter(frame, regions, layout).emit();
}

}  // namespace sluice::hostcuda::jit
