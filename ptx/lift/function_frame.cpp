#include "ptx/lift/function_frame.hpp"

#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>

#include "ptx/lift/refusal.hpp"
#include "ptx/lift/types.hpp"

namespace sluice::ptx::lift_detail {

// Of a thread, by the table of compute capabilities in the CUDA programming guide.
constexpr uint64_t most_local_bytes = uint64_t{512} << 10U;

FunctionFrame::FunctionFrame(ModuleLifter& module, const Function& source, llvm::Function& function)
    : module_(module),
      source_(source),
      function_(function),
      entry_(llvm::BasicBlock::Create(module.context(), "entry", &function)),
      body_(llvm::BasicBlock::Create(module.context(), "body", &function)) {
  llvm::BranchInst::Create(body_, entry_);
}

llvm::AllocaInst* FunctionFrame::make_storage(llvm::Type* type, uint32_t alignment,
                                              const llvm::Twine& name) {
  // At the very start of the entry block, so that no store of an initial value precedes it.
  llvm::IRBuilder<> entry(entry_, entry_->begin());
  llvm::AllocaInst* slot = entry.CreateAlloca(type, nullptr, name);
  if (alignment != 0) slot->setAlignment(llvm::Align(alignment));
  return slot;
}

llvm::AllocaInst* FunctionFrame::make_zero(llvm::Type* type, const llvm::Twine& name) {
  llvm::AllocaInst* slot = make_storage(type, 0, name);
  llvm::IRBuilder<> entry(entry_->getTerminator());
  entry.CreateStore(llvm::Constant::getNullValue(type), slot);
  return slot;
}

llvm::Value* FunctionFrame::register_slot(Symbol& symbol) {
  if (symbol.pointer == nullptr) symbol.pointer = make_zero(symbol.value_type, "");
  return symbol.pointer;
}

llvm::Value* FunctionFrame::condition_code() {
  if (condition_code_ == nullptr) {
    condition_code_ = make_zero(llvm::Type::getInt1Ty(module_.context()), "condition_code");
  }
  return condition_code_;
}

void FunctionFrame::declare_parameters() {
  auto* argument = function_.arg_begin();
  llvm::IRBuilder<> entry(entry_->getTerminator());
  auto describe = [&](const Variable& variable) {
    Symbol symbol;
    symbol.kind = variable.space == StateSpace::reg ? Symbol::Kind::reg : Symbol::Kind::param;
    symbol.space = variable.space;
    symbol.type = variable.type;
    symbol.bytes = variable.bytes();
    return symbol;
  };
  for (const Variable& result : source_.results) {
    Symbol symbol = describe(result);
    if (is_by_value(result)) {
      symbol.pointer = &*argument++;
    } else {
      symbol.value_type = register_type(module_.context(), result.type);
      symbol.pointer = make_zero(symbol.value_type, result.name);
    }
    scopes_.declare(result.name, symbol);
  }
  for (const Variable& parameter : source_.parameters) {
    Symbol symbol = describe(parameter);
    if (is_by_value(parameter)) {
      symbol.pointer = &*argument;
    } else {
      symbol.value_type = argument->getType();
      symbol.pointer = make_storage(symbol.value_type, 0, "");
      entry.CreateStore(&*argument, symbol.pointer);
    }
    scopes_.declare(parameter.name, symbol);
    ++argument;
  }
}

void FunctionFrame::declare_registers(const Variable& variable) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::reg;
  symbol.space = StateSpace::reg;
  symbol.type = variable.type;
  symbol.value_type = register_type(module_.context(), variable.type);
  if (symbol.value_type == nullptr) {
    refuse(unimplemented("register '" + variable.name + "' has type ." +
                             std::string(name(variable.type)) + ", which Sluice does not lift yet",
                         place_of(module_, source_, variable.location)));
  }
  if (!variable.range_count) {
    scopes_.declare(variable.name, symbol);
    return;
  }
  scopes_.declare_range(variable.name, *variable.range_count, symbol);
}

void FunctionFrame::declare(const Variable& variable) {
  if (variable.space == StateSpace::reg) return declare_registers(variable);
  Symbol symbol;
  symbol.kind = Symbol::Kind::memory;
  symbol.space = variable.space;
  symbol.type = variable.type;
  symbol.bytes = variable.bytes();
  const uint32_t alignment = std::max<uint32_t>(
      {1, variable.alignment, size_in_bytes(variable.type) * variable.vector_elements});
  if (variable.space == StateSpace::local) {
    local_bytes_ =
        std::min(local_bytes_, most_local_bytes) + std::min(symbol.bytes, 2 * most_local_bytes);
    if (local_bytes_ > most_local_bytes) {
      refuse(unsupported("variable '" + variable.name + "' takes more than the 512 KiB of local " +
                             "memory that a thread has",
                         place_of(module_, source_, variable.location)));
    }
    // A pointer into NVVM's local space: LLVM's own frame is generic there, so it is cast.
    auto* storage = llvm::ArrayType::get(llvm::Type::getInt8Ty(module_.context()), symbol.bytes);
    llvm::AllocaInst* slot = make_storage(storage, alignment, variable.name);
    llvm::IRBuilder<> entry(entry_->getTerminator());
    symbol.pointer = entry.CreateAddrSpaceCast(slot, entry.getPtrTy(address_space::local));
  } else if (variable.space == StateSpace::param) {
    symbol.kind = Symbol::Kind::param;
    llvm::Type* scalar =
        is_by_value(variable) ? nullptr : register_type(module_.context(), variable.type);
    symbol.value_type = scalar;
    symbol.pointer = make_storage(
        scalar != nullptr
            ? scalar
            : llvm::ArrayType::get(llvm::Type::getInt8Ty(module_.context()), symbol.bytes),
        alignment, variable.name);
  } else {
    symbol.pointer = module_.add_variable(variable);
  }
  scopes_.declare(variable.name, std::move(symbol));
}

}  // namespace sluice::ptx::lift_detail
