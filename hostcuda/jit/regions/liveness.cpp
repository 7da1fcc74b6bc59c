#include "hostcuda/jit/regions/liveness.hpp"

#include <vector>

#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {

using namespace llvm;

// Walks from each use backwards to the definition, marking the blocks on the way.
Liveness::Liveness(Function& function) {
  for (BasicBlock& block : function)
    live_in_.try_emplace(&block);
  for (BasicBlock& block : function) {
    for (Instruction& value : block) {
      if (isa<AllocaInst>(value)) continue;
      std::vector<BasicBlock*> pending;
      for (Use& use : value.uses()) {
        auto* user = cast<Instruction>(use.getUser());
        auto* phi = dyn_cast<PHINode>(user);
        BasicBlock* used_in = phi ? phi->getIncomingBlock(use) : user->getParent();
        // In the defining block itself the value is used after its definition.
        if (used_in != &block) pending.push_back(used_in);
      }
      while (!pending.empty()) {
        BasicBlock* current = pending.back();
        pending.pop_back();
        if (!live_in_[current].insert(&value)) continue;
        for (BasicBlock* predecessor : predecessors(current)) {
          if (predecessor != &block) pending.push_back(predecessor);
        }
      }
    }
  }
}

}  // namespace sluice::hostcuda::jit
