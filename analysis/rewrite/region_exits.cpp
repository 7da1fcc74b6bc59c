#include "analysis/rewrite/region_exits.hpp"

#include <memory>
#include <vector>

#include <llvm/Analysis/DominanceFrontier.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/RegionInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace sluice::analysis {
namespace {

using namespace llvm;

// separate_exit() keeps the dominators right, by which a region knows its blocks. A region inside
// that had the same exit has one of its own by now, or all ways to the exit are inside it.
void separate_exit(Region& region, DominatorTree& dominators) {
  BasicBlock* const exit = region.getExit();
  if (exit == nullptr) return;
  std::vector<BasicBlock*> inside;
  bool is_shared = false;
  for (BasicBlock* block : predecessors(exit)) {
    if (region.contains(block)) {
      inside.push_back(block);
    } else {
      is_shared = true;
    }
  }
  if (!is_shared || inside.empty()) return;
  if (BasicBlock* own = SplitBlockPredecessors(exit, inside, ".own", &dominators)) {
    region.replaceExit(own);
  }
}

void separate_exits(Region& region, DominatorTree& dominators) {
  for (const std::unique_ptr<Region>& part : region)
    separate_exits(*part, dominators);
  separate_exit(region, dominators);
}

}  // namespace

void separate_region_exits(Function& function) {
  DominatorTree dominators(function);
  PostDominatorTree post_dominators(function);
  DominanceFrontier frontier;
  frontier.analyze(dominators);
  RegionInfo regions;
  regions.recalculate(function, &dominators, &post_dominators, &frontier);
  separate_exits(*regions.getTopLevelRegion(), dominators);
}

}  // namespace sluice::analysis
