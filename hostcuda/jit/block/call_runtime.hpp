// Calls from compiled code into exchange.hpp.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "hostcuda/jit/warp/exchange.hpp"

namespace sluice::hostcuda::jit {

inline constexpr const char* exchange_symbol = "sluice_jit_exchange";
inline constexpr const char* advance_symbol = "sluice_jit_advance";

inline constexpr const char* arrive_symbol = "sluice_jit_arrive";

// All calls of a module pass one layout, which is complete at the first.
void call_exchange(llvm::IRBuilder<>& ir, const ExchangePlan& layout, uint32_t point,
                   llvm::Value* memory, llvm::Value* alive);
llvm::Value* call_advance(llvm::IRBuilder<>& ir, const ExchangePlan& layout, llvm::Value* memory);
void call_arrive(llvm::IRBuilder<>& ir, const ExchangePlan& layout, llvm::Value* memory,
                 llvm::Value* barrier, llvm::Value* thread);

}  // namespace sluice::hostcuda::jit
