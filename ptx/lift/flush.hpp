// Zeros in the place of subnormal numbers (.ftz).
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace sluice::ptx {

// flush() replaces subnormal values by zeros of their sign. It is written out, by integers, since
// LLVM's IR can't say it for one instruction and type alone.
llvm::Value* flush(llvm::Value* value, llvm::IRBuilder<>& ir);

// flushed_from() is what a result of flush() was flushed from, null for other values.
llvm::Value* flushed_from(llvm::Value* value);
const llvm::Value* flushed_from(const llvm::Value* value);

}  // namespace sluice::ptx
