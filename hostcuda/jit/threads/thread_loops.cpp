#include "hostcuda/jit/threads/thread_loops.hpp"

#include <string>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

MDNode* option(LLVMContext& context, const char* name, Metadata* value = nullptr) {
  if (!value) return MDNode::get(context, {MDString::get(context, name)});
  return MDNode::get(context, {MDString::get(context, name), value});
}

MDNode* make_loop_id(LLVMContext& context, ArrayRef<Metadata*> options) {
  SmallVector<Metadata*, 8> parts = {nullptr};
  parts.append(options.begin(), options.end());
  MDNode* id = MDNode::getDistinct(context, parts);
  id->replaceOperandWith(0, id);
  return id;
}

// A loop over threads is not unrolled before it is vectorised: that would hide the threads from
// the vectoriser. The vectorised loop may be.
MDNode* inner_loop_id(LLVMContext& context, MDNode* access_group) {
  MDNode* vectorised =
      option(context, "llvm.loop.isvectorized",
             ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), 1)));
  return make_loop_id(
      context,
      {option(context, "llvm.loop.parallel_accesses", access_group),
       option(context, "llvm.loop.mustprogress"), option(context, "llvm.loop.unroll.disable"),
       option(context, "llvm.loop.vectorize.followup_vectorized", vectorised)});
}

// A vectorised loop over lanes has few rounds: all of them are laid out, however long they are.
MDNode* lane_loop_id(LLVMContext& context, MDNode* access_group) {
  const auto integer = [&](Type* type, uint64_t value) {
    return ConstantAsMetadata::get(ConstantInt::get(type, value));
  };
  return make_loop_id(
      context,
      {option(context, lane_loop_option),
       option(context, "llvm.loop.parallel_accesses", access_group),
       option(context, "llvm.loop.mustprogress"), option(context, "llvm.loop.unroll.disable"),
       option(context, "llvm.loop.interleave.count", integer(Type::getInt32Ty(context), 1)),
       MDNode::get(context, {MDString::get(context, "llvm.loop.vectorize.followup_vectorized"),
                             option(context, "llvm.loop.isvectorized",
                                    integer(Type::getInt32Ty(context), 1)),
                             option(context, "llvm.loop.unroll.full")})});
}

MDNode* outer_loop_id(LLVMContext& context) {
  return make_loop_id(context, {option(context, "llvm.loop.mustprogress"),
                                option(context, "llvm.loop.unroll.disable")});
}

// LoopNest makes loops one in the other.
class LoopNest {
 public:
  explicit LoopNest(BasicBlock* before) : ir_(before), function_(before->getParent()) {}

  IRBuilder<>& ir() { return ir_; }

  // enter() opens a loop of `extent` rounds, and none where there is one round.
  Value* enter(Value* extent, const char* axis) {
    if (auto* constant = dyn_cast<ConstantInt>(extent); constant && constant->isOne()) {
      return ir_.getInt32(0);
    }
    BasicBlock* from = ir_.GetInsertBlock();
    BasicBlock* header = make_block((std::string("thread.") + axis).c_str());
    ir_.CreateBr(header);
    ir_.SetInsertPoint(header);
    PHINode* index = ir_.CreatePHI(ir_.getInt32Ty(), 2, std::string("tid.") + axis);
    index->addIncoming(ir_.getInt32(0), from);
    levels_.push_back({index, extent});
    return index;
  }

  // close() makes the nest's body and its ends; the innermost loop gets `innermost_id`.
  template <class Loops>
  void close(Loops& loops, MDNode* innermost_id) {
    loops.body = make_block("thread.body");
    ir_.CreateBr(loops.body);
    loops.latch = make_block("thread.latch");
    ir_.SetInsertPoint(loops.latch);
    leave_all(innermost_id);
    loops.done = make_block("threads.done");
    ir_.CreateBr(loops.done);
  }

  Value* linear_thread(Value* const (&tid)[3], const Dim3& block) {
    const auto wide = [&](Value* value) { return ir_.CreateZExt(value, ir_.getInt64Ty()); };
    const auto times = [&](Value* value, uint32_t factor) {
      return ir_.CreateMul(value, ir_.getInt64(factor), "", true, true);
    };
    const auto plus = [&](Value* a, Value* b) { return ir_.CreateAdd(a, b, "", true, true); };
    Value* row = plus(wide(tid[1]), times(wide(tid[2]), block.y));
    return plus(times(row, block.x), wide(tid[0]));
  }

 private:
  struct Level {
    PHINode* index = nullptr;
    Value* extent = nullptr;
  };

  BasicBlock* make_block(const char* name) {
    return BasicBlock::Create(ir_.getContext(), name, function_);
  }

  void leave_all(MDNode* innermost_id) {
    MDNode* id = innermost_id;
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      Value* next = ir_.CreateAdd(level->index, ir_.getInt32(1), "", true, true);
      level->index->addIncoming(next, ir_.GetInsertBlock());
      BasicBlock* exit = make_block("threads.next");
      BranchInst* branch =
          ir_.CreateCondBr(ir_.CreateICmpULT(next, level->extent), level->index->getParent(), exit);
      branch->setMetadata(LLVMContext::MD_loop, id);
      id = outer_loop_id(ir_.getContext());
      ir_.SetInsertPoint(exit);
    }
  }

  IRBuilder<> ir_;
  Function* function_;
  std::vector<Level> levels_;
};

}  // namespace

ThreadLoops open_thread_loops(BasicBlock* before, const Dim3& block, const MergedBlocks& merged) {
  LoopNest nest(before);
  IRBuilder<>& ir = nest.ir();
  ThreadLoops loops;
  loops.access_group = MDNode::getDistinct(ir.getContext(), {});
  loops.tid[2] = nest.enter(ir.getInt32(block.z), "z");
  loops.tid[1] = nest.enter(ir.getInt32(block.y), "y");
  Value* threads = ir.getInt32(block.x);
  if (merged.one_row) {
    threads = ir.CreateMul(merged.count, threads, "row", true, true);
  } else if (merged.count) {
    loops.block = nest.enter(merged.count, "block");
  }
  loops.tid[0] = nest.enter(threads, "x");
  loops.linear = nest.linear_thread(loops.tid, {block.x * merged.kept, block.y, block.z});
  if (loops.block && merged.kept > 1) {
    Value* before_block = ir.CreateMul(ir.CreateZExt(loops.block, ir.getInt64Ty()),
                                       ir.getInt64(block.x), "", true, true);
    loops.linear = ir.CreateAdd(loops.linear, before_block, "", true, true);
  }
  nest.close(loops, inner_loop_id(ir.getContext(), loops.access_group));
  return loops;
}

WarpLoops open_warp_loops(BasicBlock* before, const Dim3& block) {
  LoopNest nest(before);
  IRBuilder<>& ir = nest.ir();
  WarpLoops warps;
  warps.first[2] = nest.enter(ir.getInt32(block.z), "z");
  warps.first[1] = nest.enter(ir.getInt32(block.y), "y");
  warps.first[0] =
      ir.CreateShl(nest.enter(ir.getInt32(block.x / 32), "warp"), 5, "first", true, true);
  warps.linear = nest.linear_thread(warps.first, block);
  nest.close(warps, outer_loop_id(ir.getContext()));
  return warps;
}

ThreadLoops open_lane_loop(BasicBlock* before, const WarpLoops& warps) {
  LoopNest nest(before);
  IRBuilder<>& ir = nest.ir();
  ThreadLoops loops;
  loops.access_group = MDNode::getDistinct(ir.getContext(), {});
  loops.lane = nest.enter(ir.getInt32(32), "lane");
  loops.tid[0] = ir.CreateAdd(warps.first[0], loops.lane, "", true, true);
  loops.tid[1] = warps.first[1];
  loops.tid[2] = warps.first[2];
  loops.linear =
      ir.CreateAdd(warps.linear, ir.CreateZExt(loops.lane, ir.getInt64Ty()), "", true, true);
  nest.close(loops, lane_loop_id(ir.getContext(), loops.access_group));
  return loops;
}

bool does_nothing(const BasicBlock& block) {
  return none_of(block, [](const Instruction& each) { return each.mayHaveSideEffects(); });
}

}  // namespace sluice::hostcuda::jit
