#include "hostcuda/jit/convergence/loop_variable.hpp"

namespace sluice::hostcuda::jit {

std::optional<LoopVariable> loop_variable(const llvm::PHINode& phi, const llvm::LoopInfo& loops) {
  const llvm::Loop* loop = loops.getLoopFor(phi.getParent());
  if (!loop || loop->getHeader() != phi.getParent() || phi.getNumIncomingValues() != 2) {
    return std::nullopt;
  }
  const unsigned back = loop->contains(phi.getIncomingBlock(0)) ? 0 : 1;
  if (!loop->contains(phi.getIncomingBlock(back)) ||
      loop->contains(phi.getIncomingBlock(1 - back))) {
    return std::nullopt;
  }
  return LoopVariable{loop, phi.getIncomingValue(1 - back), phi.getIncomingValue(back)};
}

}  // namespace sluice::hostcuda::jit
