#include "hostcuda/jit/regions/regions.hpp"

#include <set>
#include <utility>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include "base/post_dominance.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Planner works on the cut graph: nodes are the blocks and one node for the kernel's end; a cut
// block has no successors.
class Planner {
 public:
  Planner(Function& function, const std::vector<SyncPoint>& points, const Uniformity& uniformity)
      : uniformity_(uniformity) {
    for (BasicBlock& block : function) {
      numbers_[&block] = static_cast<unsigned>(blocks_.size());
      blocks_.push_back(&block);
    }
    for (const SyncPoint& point : points)
      cuts_.insert(point.block);
  }

  RegionPlan plan() {
    bool changed = true;
    while (changed && plan_.structured)
      changed = step();
    return plan_;
  }

 private:
  unsigned end_node() const { return static_cast<unsigned>(blocks_.size()); }

  std::vector<std::vector<unsigned>> successors() const {
    std::vector<std::vector<unsigned>> result(blocks_.size() + 1);
    for (unsigned node = 0; node < blocks_.size(); ++node) {
      if (cuts_.contains(blocks_[node])) continue;
      for (BasicBlock* successor : llvm::successors(blocks_[node])) {
        const unsigned to = numbers_.lookup(successor);
        if (!pruned_.contains({node, to})) result[node].push_back(to);
      }
      if (succ_empty(blocks_[node])) result[node].push_back(end_node());
    }
    return result;
  }

  // One round: looks for branches whose paths never meet again before a cut.
  bool step() {
    const std::vector<std::vector<unsigned>> graph = successors();
    const PostDominance post_dominance(graph);
    std::vector<unsigned> undecided;
    for (unsigned node = 0; node < blocks_.size(); ++node) {
      std::set<unsigned> targets(graph[node].begin(), graph[node].end());
      if (targets.size() > 1 && !post_dominance.immediate(node)) undecided.push_back(node);
    }
    if (undecided.empty()) return false;
    for (unsigned node : undecided) {
      if (uniformity_.has_uniform_branch(*blocks_[node])) continue;
      if (prune(node, graph)) return true;
      plan_.structured = false;
      return false;
    }
    for (unsigned node : undecided) {
      cuts_.insert(blocks_[node]);
      plan_.branches.push_back(blocks_[node]);
    }
    return true;
  }

  // Threads that can only end leave the others alone: forgets the edges that lead them away.
  bool prune(unsigned node, const std::vector<std::vector<unsigned>>& graph) {
    std::vector<unsigned> ending;
    size_t staying = 0;
    for (unsigned successor : graph[node]) {
      only_ends(successor, graph) ? ending.push_back(successor) : (void)++staying;
    }
    if (ending.empty() || staying == 0) return false;
    for (unsigned successor : ending)
      pruned_.insert({node, successor});
    plan_.early_exits = true;
    return true;
  }

  // Whether the kernel's end is the only thing that can be reached from `node`.
  bool only_ends(unsigned node, const std::vector<std::vector<unsigned>>& graph) const {
    std::vector<unsigned> pending = {node};
    std::set<unsigned> seen = {node};
    while (!pending.empty()) {
      const unsigned current = pending.back();
      pending.pop_back();
      if (current != end_node() && cuts_.contains(blocks_[current])) return false;
      for (unsigned successor : graph[current]) {
        if (seen.insert(successor).second) pending.push_back(successor);
      }
    }
    return true;
  }

  const Uniformity& uniformity_;
  std::vector<BasicBlock*> blocks_;
  DenseMap<const BasicBlock*, unsigned> numbers_;
  DenseSet<const BasicBlock*> cuts_;
  std::set<std::pair<unsigned, unsigned>> pruned_;
  RegionPlan plan_;
};

}  // namespace

RegionPlan plan_regions(Function& function, const std::vector<SyncPoint>& points,
                        const Uniformity& uniformity) {
  if (points.empty()) return {};
  return Planner(function, points, uniformity).plan();
}

}  // namespace sluice::hostcuda::jit
