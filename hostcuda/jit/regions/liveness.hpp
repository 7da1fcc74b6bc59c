// Live values at the starts of blocks.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instruction.h>

namespace sluice::hostcuda::jit {

// Liveness holds, for each block, the instructions whose values are defined before it and used in
// it or after it. What a phi takes from an edge is live at the end of that edge's block. Allocas
// count as places, not values.
class Liveness {
 public:
  explicit Liveness(llvm::Function& function);
  const llvm::SetVector<llvm::Instruction*>& live_in(const llvm::BasicBlock& block) const {
    return live_in_.find(&block)->second;
  }

 private:
  llvm::DenseMap<const llvm::BasicBlock*, llvm::SetVector<llvm::Instruction*>> live_in_;
};

}  // namespace sluice::hostcuda::jit
