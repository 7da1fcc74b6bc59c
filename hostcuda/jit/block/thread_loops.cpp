#include "hostcuda/jit/block/thread_loops.hpp"

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

MDNode* outer_loop_id(LLVMContext& context) {
  return make_loop_id(context, {option(context, "llvm.loop.mustprogress"),
                                option(context, "llvm.loop.unroll.disable")});
}

class LoopNest {
 public:
  LoopNest(BasicBlock* before, const Dim3& block) : ir_(before), block_(block) {}

  ThreadLoops open(Value* block_count, bool one_row) {
    LLVMContext& context = ir_.getContext();
    function_ = ir_.GetInsertBlock()->getParent();
    loops_.access_group = MDNode::getDistinct(context, {});
    loops_.tid[2] = enter(ir_.getInt32(block_.z), "z");
    loops_.tid[1] = enter(ir_.getInt32(block_.y), "y");
    Value* threads = ir_.getInt32(block_.x);
    if (one_row) {
      threads = ir_.CreateMul(block_count, threads, "row", true, true);
    } else if (block_count) {
      loops_.block = enter(block_count, "block");
    }
    loops_.tid[0] = enter(threads, "x");
    loops_.linear = linear_thread();
    loops_.body = BasicBlock::Create(context, "thread.body", function_);
    ir_.CreateBr(loops_.body);
    loops_.latch = BasicBlock::Create(context, "thread.latch", function_);
    ir_.SetInsertPoint(loops_.latch);
    leave_all();
    loops_.done = BasicBlock::Create(context, "threads.done", function_);
    ir_.CreateBr(loops_.done);
    return loops_;
  }

 private:
  struct Level {
    PHINode* index = nullptr;
    Value* extent = nullptr;
  };

  // enter() opens a loop of `extent` rounds, and none where there is one round.
  Value* enter(Value* extent, const char* axis) {
    if (auto* constant = dyn_cast<ConstantInt>(extent); constant && constant->isOne()) {
      return ir_.getInt32(0);
    }
    BasicBlock* from = ir_.GetInsertBlock();
    BasicBlock* header =
        BasicBlock::Create(ir_.getContext(), std::string("thread.") + axis, function_);
    ir_.CreateBr(header);
    ir_.SetInsertPoint(header);
    PHINode* index = ir_.CreatePHI(ir_.getInt32Ty(), 2, std::string("tid.") + axis);
    index->addIncoming(ir_.getInt32(0), from);
    levels_.push_back({index, extent});
    return index;
  }

  void leave_all() {
    bool innermost = true;
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      Value* next = ir_.CreateAdd(level->index, ir_.getInt32(1), "", true, true);
      level->index->addIncoming(next, ir_.GetInsertBlock());
      BasicBlock* exit = BasicBlock::Create(ir_.getContext(), "threads.next", function_);
      BranchInst* branch =
          ir_.CreateCondBr(ir_.CreateICmpULT(next, level->extent), level->index->getParent(), exit);
      branch->setMetadata(LLVMContext::MD_loop,
                          innermost ? inner_loop_id(ir_.getContext(), loops_.access_group)
                                    : outer_loop_id(ir_.getContext()));
      innermost = false;
      ir_.SetInsertPoint(exit);
    }
  }

  Value* linear_thread() {
    const auto wide = [&](Value* value) { return ir_.CreateZExt(value, ir_.getInt64Ty()); };
    const auto times = [&](Value* value, uint32_t factor) {
      return ir_.CreateMul(value, ir_.getInt64(factor), "", true, true);
    };
    const auto plus = [&](Value* a, Value* b) { return ir_.CreateAdd(a, b, "", true, true); };
    Value* row = plus(wide(loops_.tid[1]), times(wide(loops_.tid[2]), block_.y));
    return plus(times(row, block_.x), wide(loops_.tid[0]));
  }

  IRBuilder<> ir_;
  const Dim3 block_;
  Function* function_ = nullptr;
  ThreadLoops loops_;
  std::vector<Level> levels_;
};

}  // namespace

ThreadLoops open_thread_loops(BasicBlock* before, const Dim3& block, Value* block_count,
                              bool one_row) {
  return LoopNest(before, block).open(block_count, one_row);
}

}  // namespace sluice::hostcuda::jit
