// Calls from compiled code into exchange.hpp.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "hostcuda/jit/exchange.hpp"

namespace sluice::hostcuda::jit {

inline constexpr const char* exchange_symbol = "sluice_jit_exchange";
inline constexpr const char* advance_symbol = "sluice_jit_advance";

// The address of `layout` becomes a constant of the code.
void call_exchange(llvm::IRBuilder<>& ir, const ExchangeLayout& layout, uint32_t point,
                   llvm::Value* memory, llvm::Value* alive);
llvm::Value* call_advance(llvm::IRBuilder<>& ir, const ExchangeLayout& layout, llvm::Value* memory);

}  // namespace sluice::hostcuda::jit
