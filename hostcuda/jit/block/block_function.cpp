#include "hostcuda/jit/block/block_function.hpp"

#include <cstddef>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "hostcuda/block_abi.h"
#include "hostcuda/jit/library/fault_guard.hpp"
#include "hostcuda/jit/lowering/outside_address.hpp"
#include "hostcuda/jit/object/flushed_operands.hpp"

namespace sluice::hostcuda::jit {

using namespace llvm;

namespace {

FunctionType* block_function_type(LLVMContext& context) {
  Type* pointer = PointerType::get(context, 0);
  Type* i32 = Type::getInt32Ty(context);
  return FunctionType::get(Type::getVoidTy(context), {pointer, i32, i32, pointer}, false);
}

}  // namespace

Function* emit_call_through(Module& module, StringRef name, StringRef symbol, Constant* body,
                            const char* address) {
  LLVMContext& context = module.getContext();
  FunctionType* type = block_function_type(context);
  Function* function = Function::Create(type, Function::ExternalLinkage, name, module);
  function->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> ir(BasicBlock::Create(context, "entry", function));
  SmallVector<Type*, 6> types = {ir.getPtrTy()};
  types.append(type->param_begin(), type->param_end());
  types.push_back(ir.getPtrTy());
  FunctionCallee through =
      module.getOrInsertFunction(symbol, FunctionType::get(ir.getVoidTy(), types, false));
  SmallVector<Value*, 6> operands = {body};
  for (Argument& argument : function->args())
    operands.push_back(&argument);
  operands.push_back(ir.CreateIntToPtr(outside_address(module, address), ir.getPtrTy()));
  ir.CreateCall(through, operands);
  ir.CreateRetVoid();
  return function;
}

Function* emit_block_function(const BlockBody& body, uint64_t shared_offset, bool is_flushing,
                              StringRef name) {
  Module* module = body.function->getParent();
  LLVMContext& context = module->getContext();
  Type* pointer = PointerType::get(context, 0);
  Type* i32 = Type::getInt32Ty(context);
  Function* function = Function::Create(block_function_type(context), Function::InternalLinkage,
                                        name + ".blocks", module);
  function->addFnAttr(Attribute::NoUnwind);
  Value* launch = function->getArg(0);
  Value* first = function->getArg(1);
  Value* count = function->getArg(2);
  Value* scratch = function->getArg(3);

  BasicBlock* entry = BasicBlock::Create(context, "entry", function);
  BasicBlock* loop = BasicBlock::Create(context, "block", function);
  BasicBlock* done = BasicBlock::Create(context, "done", function);
  IRBuilder<> ir(entry);
  AllocaInst* origin = ir.CreateAlloca(pointer, nullptr, "origin");
  ir.CreateStore(ConstantPointerNull::get(ir.getPtrTy()), origin);
  Value* extents[2];
  for (unsigned axis = 0; axis < 2; ++axis) {
    extents[axis] = ir.CreateLoad(
        i32, ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), launch,
                                           offsetof(SluiceBlockLaunch, grid) + uint64_t{4} * axis));
  }
  Value* first_x = ir.CreateURem(first, extents[0]);
  Value* first_row = ir.CreateUDiv(first, extents[0]);
  Value* first_y = ir.CreateURem(first_row, extents[1]);
  Value* first_z = ir.CreateUDiv(first_row, extents[1]);
  Value* shared = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), scratch, shared_offset);
  if (body.reductions) body.reductions->begin(ir, scratch);
  ir.CreateCondBr(ir.CreateICmpEQ(count, ir.getInt32(0)), done, loop);

  ir.SetInsertPoint(loop);
  PHINode* left = ir.CreatePHI(i32, 2);
  PHINode* x = ir.CreatePHI(i32, 2);
  PHINode* y = ir.CreatePHI(i32, 2);
  PHINode* z = ir.CreatePHI(i32, 2);
  // A call stays within one row of the grid.
  Value* step = ir.getInt32(1);
  if (body.most_blocks > 1) {
    step = ir.CreateBinaryIntrinsic(Intrinsic::umin, left, ir.CreateSub(extents[0], x));
    step = ir.CreateBinaryIntrinsic(Intrinsic::umin, step, ir.getInt32(body.most_blocks));
  }
  ir.CreateCall(body.function, {launch, scratch, shared, origin, x, y, z, step});
  Value* next_x = ir.CreateAdd(x, step);
  Value* row_ends = ir.CreateICmpEQ(next_x, extents[0]);
  Value* next_y = ir.CreateAdd(y, ir.CreateZExt(row_ends, i32));
  Value* plane_ends = ir.CreateICmpEQ(next_y, extents[1]);
  Value* next_z = ir.CreateAdd(z, ir.CreateZExt(plane_ends, i32));
  Value* next_left = ir.CreateSub(left, step);
  const auto close = [&](PHINode* phi, Value* start, Value* next) {
    phi->addIncoming(start, entry);
    phi->addIncoming(next, loop);
  };
  close(left, count, next_left);
  close(x, first_x, ir.CreateSelect(row_ends, ir.getInt32(0), next_x));
  close(y, first_y, ir.CreateSelect(plane_ends, ir.getInt32(0), next_y));
  close(z, first_z, next_z);
  ir.CreateCondBr(ir.CreateICmpEQ(next_left, ir.getInt32(0)), done, loop);
  ir.SetInsertPoint(done);
  if (body.reductions) body.reductions->end(ir, scratch);
  ir.CreateRetVoid();
  if (is_flushing) {
    mark_flushing(*body.function);
    function = run_flushing(*function);
  }
  return emit_call_through(*module, name, guarded_symbol, function, fault_name);
}

}  // namespace sluice::hostcuda::jit
