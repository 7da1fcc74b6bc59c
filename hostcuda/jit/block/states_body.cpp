#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/block/block_body.hpp"
#include "hostcuda/jit/block/call_runtime.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

class StatesEmitter {
 public:
  StatesEmitter(BodyFrame& frame, const KernelRegions& regions, ExchangePlan& layout)
      : frame_(frame), regions_(regions), layout_(layout), locals_(frame, regions.locals, true) {}

  // The states start at 0; passes over the threads follow each other until all have exited.
  BlockBody emit() {
    LLVMContext& context = frame_.llvm_context();
    IRBuilder<> ir(frame_.entry);
    const uint64_t threads = frame_.context.block.count();
    ir.CreateMemSet(frame_.element(ir, layout_.state, 4, ir.getInt64(0)), ir.getInt8(0),
                    4 * threads, Align(64));
    if (layout_.tries != 0) {
      ir.CreateMemSet(frame_.element(ir, layout_.tries, 1, ir.getInt64(0)), ir.getInt8(0),
                      sizeof(WarpTries) * ((threads + 31) / 32), Align(64));
    }
    if (layout_.has_numbered_barriers != 0) {
      ir.CreateMemSet(frame_.element(ir, layout_.arrived, 4, ir.getInt64(0)), ir.getInt8(0),
                      4 * uint64_t{barriers_of_a_block}, Align(64));
    }
    BasicBlock* pass = BasicBlock::Create(context, "pass", frame_.function);
    BasicBlock* finish = BasicBlock::Create(context, "finish", frame_.function);
    ir.CreateBr(pass);
    BasicBlock* done = emit_pass(pass);
    ir.SetInsertPoint(done);
    Value* left = call_advance(ir, layout_, frame_.memory);
    ir.CreateCondBr(ir.CreateICmpNE(left, ir.getInt32(0)), pass, finish);
    ir.SetInsertPoint(finish);
    ir.CreateRetVoid();
    return {frame_.function, frame_.layout.bytes(), locals_.bytes_below_shared()};
  }

 private:
  BasicBlock* emit_pass(BasicBlock* pass) {
    const ThreadLoops loops = open_thread_loops(pass, frame_.context.block);
    ValueToValueMapTy map;
    frame_.map_arguments(map, loops);
    IRBuilder<> ir(loops.body);
    locals_.map_places(ir, loops, map);
    map_slots(ir, loops, map);
    Value* state = ir.CreateLoad(ir.getInt32Ty(), state_of(ir, loops));

    std::vector<BasicBlock*> blocks;
    for (BasicBlock& block : *frame_.thread.function)
      blocks.push_back(&block);
    clone_blocks(blocks, frame_, map);
    const auto copy_of = [&](BasicBlock* block) { return cast<BasicBlock>(map.lookup(block)); };

    // Waiting and exited threads have negative states, which no case meets.
    SwitchInst* enter = ir.CreateSwitch(state, loops.latch);
    enter->addCase(ir.getInt32(0), copy_of(blocks.front()));
    for (size_t i = 0; i < regions_.points.size(); ++i) {
      const SyncPoint& point = regions_.points[i];
      enter->addCase(ir.getInt32(static_cast<uint32_t>(i + 1)), copy_of(point.after));
      wait_at(*copy_of(point.block), -static_cast<int32_t>(i + 1), loops);
    }
    for (BasicBlock* block : blocks) {
      if (isa<ReturnInst>(block->getTerminator())) set_state(*copy_of(block), exited, loops);
    }
    remap_blocks(blocks, loops, map);
    for (BasicBlock* block : blocks)
      emit_arrivals(*copy_of(block), loops);
    for (const SyncPoint& point : regions_.points) {
      if (!point.result) continue;
      emit_result(*cast<CallInst>(map.lookup(point.result)), point.code, frame_, layout_,
                  loops.linear);
    }
    return loops.done;
  }

  void map_slots(IRBuilder<>& ir, const ThreadLoops& loops, ValueToValueMapTy& map) {
    const DataLayout& layout = frame_.function->getParent()->getDataLayout();
    for (const Slot& slot : regions_.live.slots) {
      const uint64_t bytes = layout.getTypeAllocSize(slot.storage->getAllocatedType());
      const uint64_t offset = frame_.layout.reserve(bytes * frame_.context.block.count());
      map[slot.storage] = frame_.element(ir, offset, bytes, loops.linear);
    }
  }

  void emit_arrivals(BasicBlock& copy, const ThreadLoops& loops) {
    for (Instruction& instruction : make_early_inc_range(copy)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (!call || !is_arrival(*call)) continue;
      IRBuilder<> ir(call);
      call_arrive(ir, layout_, frame_.memory, call->getArgOperand(0), loops.linear);
      call->eraseFromParent();
    }
  }

  Value* state_of(IRBuilder<>& ir, const ThreadLoops& loops) {
    return frame_.element(ir, layout_.state, 4, loops.linear);
  }

  void wait_at(BasicBlock& copy, int32_t state, const ThreadLoops& loops) {
    auto* call = cast<CallInst>(std::prev(copy.getTerminator()->getIterator()));
    emit_operands(*call, frame_, layout_, loops.linear);
    call->eraseFromParent();
    set_state(copy, state, loops);
  }

  void set_state(BasicBlock& copy, int32_t state, const ThreadLoops& loops) {
    Instruction* end = copy.getTerminator();
    IRBuilder<> ir(end);
    ir.CreateStore(ir.getInt32(static_cast<uint32_t>(state)), state_of(ir, loops));
    ir.CreateBr(loops.latch);
    end->eraseFromParent();
  }

  BodyFrame& frame_;
  const KernelRegions& regions_;
  ExchangePlan& layout_;
  ThreadLocals locals_;
};

}  // namespace

BlockBody emit_states(BodyFrame& frame, const KernelRegions& regions, ExchangePlan& layout) {
  return StatesEmitter(frame, regions, layout).emit();
}

}  // namespace sluice::hostcuda::jit
