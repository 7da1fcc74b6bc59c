// Declarations inside a body: registers, local and shared variables, call parameters.
#include <algorithm>

#include "ptx/lift/function_lifter.hpp"
#include "ptx/lift/refusal.hpp"
#include "ptx/lift/types.hpp"

namespace sluice::ptx::lift_detail {

// Of a thread, by the table of compute capabilities in the CUDA programming guide.
constexpr uint64_t most_local_bytes = uint64_t{512} << 10U;

void FunctionLifter::declare_registers(const Variable& variable) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::reg;
  symbol.space = StateSpace::reg;
  symbol.type = variable.type;
  symbol.value_type = register_type(context(), variable.type);
  if (symbol.value_type == nullptr) {
    refuse(unimplemented("register '" + variable.name + "' has type ." +
                             std::string(name(variable.type)) + ", which Sluice does not lift yet",
                         place(variable.location)));
  }
  if (!variable.range_count) {
    scopes_.declare(variable.name, symbol);
    return;
  }
  scopes_.declare_range(variable.name, *variable.range_count, symbol);
}

void FunctionLifter::declare(const Variable& variable) {
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
                         place(variable.location)));
    }
    // A pointer into NVVM's local space: LLVM's own frame is generic there, so it is cast.
    auto* storage = llvm::ArrayType::get(ir_.getInt8Ty(), symbol.bytes);
    llvm::AllocaInst* slot = entry_alloca(storage, alignment, variable.name);
    llvm::IRBuilder<> entry(entry_->getTerminator());
    symbol.pointer = entry.CreateAddrSpaceCast(slot, entry.getPtrTy(address_space::local));
  } else if (variable.space == StateSpace::param) {
    symbol.kind = Symbol::Kind::param;
    llvm::Type* scalar = is_by_value(variable) ? nullptr : register_type(context(), variable.type);
    symbol.value_type = scalar;
    symbol.pointer = entry_alloca(
        scalar != nullptr ? scalar : llvm::ArrayType::get(ir_.getInt8Ty(), symbol.bytes), alignment,
        variable.name);
  } else {
    symbol.pointer = module_.add_variable(variable);
  }
  scopes_.declare(variable.name, std::move(symbol));
}

}  // namespace sluice::ptx::lift_detail
