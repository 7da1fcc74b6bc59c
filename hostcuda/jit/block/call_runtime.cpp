#include "hostcuda/jit/block/call_runtime.hpp"

#include <string>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr const char* layout_name = "sluice.layout";

// The layout becomes constant data of the module, read by exchange.hpp.
Value* layout_pointer(IRBuilder<>& ir, const ExchangePlan& layout) {
  Module* module = ir.GetInsertBlock()->getModule();
  if (GlobalVariable* known = module->getNamedGlobal(layout_name)) return known;
  const ExchangeLayout& head = layout;
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof(head));
  bytes.append(reinterpret_cast<const char*>(layout.codes.data()),
               layout.codes.size() * sizeof(PointCode));
  Constant* content = ConstantDataArray::getString(ir.getContext(), bytes, false);
  auto* global = new GlobalVariable(*module, content->getType(), true, GlobalValue::PrivateLinkage,
                                    content, layout_name);
  global->setAlignment(Align(alignof(ExchangeLayout)));
  return global;
}

FunctionCallee declare(IRBuilder<>& ir, const char* name, Type* result, ArrayRef<Type*> types) {
  Module* module = ir.GetInsertBlock()->getModule();
  FunctionCallee callee =
      module->getOrInsertFunction(name, FunctionType::get(result, types, false));
  cast<Function>(callee.getCallee())->setDoesNotThrow();
  return callee;
}

}  // namespace

void call_exchange(IRBuilder<>& ir, const ExchangePlan& layout, uint32_t point, Value* memory,
                   Value* alive) {
  Type* pointer = ir.getPtrTy();
  FunctionCallee callee =
      declare(ir, exchange_symbol, ir.getVoidTy(), {pointer, ir.getInt32Ty(), pointer, pointer});
  ir.CreateCall(callee, {layout_pointer(ir, layout), ir.getInt32(point), memory, alive});
}

Value* call_advance(IRBuilder<>& ir, const ExchangePlan& layout, Value* memory) {
  Type* pointer = ir.getPtrTy();
  FunctionCallee callee = declare(ir, advance_symbol, ir.getInt32Ty(), {pointer, pointer});
  return ir.CreateCall(callee, {layout_pointer(ir, layout), memory});
}

void call_arrive(IRBuilder<>& ir, const ExchangePlan& layout, Value* memory, Value* barrier,
                 Value* thread) {
  Type* pointer = ir.getPtrTy();
  FunctionCallee callee = declare(ir, arrive_symbol, ir.getVoidTy(),
                                  {pointer, pointer, ir.getInt32Ty(), ir.getInt64Ty()});
  ir.CreateCall(callee, {layout_pointer(ir, layout), memory, barrier, thread});
}

}  // namespace sluice::hostcuda::jit
