#include "hostcuda/jit/call_runtime.hpp"

#include <llvm/IR/Module.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

Value* layout_pointer(IRBuilder<>& ir, const ExchangeLayout& layout) {
  return ir.CreateIntToPtr(ir.getInt64(reinterpret_cast<uint64_t>(&layout)), ir.getPtrTy());
}

FunctionCallee declare(IRBuilder<>& ir, const char* name, Type* result, ArrayRef<Type*> types) {
  Module* module = ir.GetInsertBlock()->getModule();
  FunctionCallee callee =
      module->getOrInsertFunction(name, FunctionType::get(result, types, false));
  cast<Function>(callee.getCallee())->setDoesNotThrow();
  return callee;
}

}  // namespace

void call_exchange(IRBuilder<>& ir, const ExchangeLayout& layout, uint32_t point, Value* memory,
                   Value* alive) {
  Type* pointer = ir.getPtrTy();
  FunctionCallee callee =
      declare(ir, exchange_symbol, ir.getVoidTy(), {pointer, ir.getInt32Ty(), pointer, pointer});
  ir.CreateCall(callee, {layout_pointer(ir, layout), ir.getInt32(point), memory, alive});
}

Value* call_advance(IRBuilder<>& ir, const ExchangeLayout& layout, Value* memory) {
  Type* pointer = ir.getPtrTy();
  FunctionCallee callee = declare(ir, advance_symbol, ir.getInt32Ty(), {pointer, pointer});
  return ir.CreateCall(callee, {layout_pointer(ir, layout), memory});
}

}  // namespace sluice::hostcuda::jit
