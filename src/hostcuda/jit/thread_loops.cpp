#include "hostcuda/jit/thread_loops.hpp"

#include <string>

#include <llvm/IR/IRBuilder.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

MDNode* loop_id(LLVMContext& context, MDNode* access_group) {
  Metadata* parallel[] = {MDString::get(context, "llvm.loop.parallel_accesses"), access_group};
  Metadata* progress[] = {MDString::get(context, "llvm.loop.mustprogress")};
  Metadata* parts[] = {nullptr, MDNode::get(context, parallel), MDNode::get(context, progress)};
  MDNode* id = MDNode::getDistinct(context, parts);
  id->replaceOperandWith(0, id);
  return id;
}

}  // namespace

ThreadLoops open_thread_loops(BasicBlock* before, const Dim3& block) {
  LLVMContext& context = before->getContext();
  Function* function = before->getParent();
  IRBuilder<> ir(before);
  ThreadLoops loops;
  loops.access_group = MDNode::getDistinct(context, {});
  const uint32_t extents[3] = {block.x, block.y, block.z};
  const std::string axes = "xyz";

  BasicBlock* headers[3] = {};
  for (int axis = 2; axis >= 0; --axis) {
    if (extents[axis] == 1) {
      loops.tid[axis] = ir.getInt32(0);
      continue;
    }
    BasicBlock* header = BasicBlock::Create(context, std::string("thread.") + axes[axis], function);
    BasicBlock* from = ir.GetInsertBlock();
    ir.CreateBr(header);
    ir.SetInsertPoint(header);
    PHINode* index = ir.CreatePHI(ir.getInt32Ty(), 2, std::string("tid.") + axes[axis]);
    index->addIncoming(ir.getInt32(0), from);
    loops.tid[axis] = index;
    headers[axis] = header;
  }
  const auto wide = [&](Value* value) { return ir.CreateZExt(value, ir.getInt64Ty()); };
  const auto times = [&](Value* value, uint32_t factor) {
    return ir.CreateMul(value, ir.getInt64(factor), "", true, true);
  };
  const auto plus = [&](Value* a, Value* b) { return ir.CreateAdd(a, b, "", true, true); };
  Value* row = plus(wide(loops.tid[1]), times(wide(loops.tid[2]), block.y));
  loops.linear = plus(times(row, block.x), wide(loops.tid[0]));
  loops.linear->setName("thread");
  loops.body = BasicBlock::Create(context, "thread.body", function);
  ir.CreateBr(loops.body);

  loops.latch = BasicBlock::Create(context, "thread.latch", function);
  loops.done = BasicBlock::Create(context, "threads.done", function);
  ir.SetInsertPoint(loops.latch);
  for (int axis = 0; axis < 3; ++axis) {
    if (extents[axis] == 1) continue;
    auto* index = cast<PHINode>(loops.tid[axis]);
    Value* next = ir.CreateAdd(index, ir.getInt32(1), "", true, true);
    index->addIncoming(next, ir.GetInsertBlock());
    BasicBlock* exit = BasicBlock::Create(context, "threads.next", function);
    BranchInst* branch =
        ir.CreateCondBr(ir.CreateICmpULT(next, ir.getInt32(extents[axis])), headers[axis], exit);
    if (axis == 0) {
      branch->setMetadata(LLVMContext::MD_loop, loop_id(context, loops.access_group));
    }
    ir.SetInsertPoint(exit);
  }
  ir.CreateBr(loops.done);
  return loops;
}

}  // namespace sluice::hostcuda::jit
