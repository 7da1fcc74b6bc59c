// Variables of loops: what goes from round to round.
#pragma once

#include <optional>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {

// LoopVariable is a value that a loop begins with and that each round leaves for the next.
struct LoopVariable {
  const llvm::Loop* loop = nullptr;
  const llvm::Value* start = nullptr;
  const llvm::Value* next = nullptr;
};

// loop_variable() is empty where a phi is none, or where a loop is entered or goes on in more than
// one way.
std::optional<LoopVariable> loop_variable(const llvm::PHINode& phi, const llvm::LoopInfo& loops);

}  // namespace sluice::hostcuda::jit
