// Immediate post-dominators of a graph given by its edges.
#pragma once

#include <optional>
#include <vector>

namespace sluice {

// PostDominance holds, for each node, the first node that all its paths to an end meet. Ends are
// the nodes without successors. Nodes that reach no end have none.
// Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
class PostDominance {
 public:
  explicit PostDominance(const std::vector<std::vector<unsigned>>& successors);

  // immediate() is empty where the paths from `node` share nothing before they end.
  std::optional<unsigned> immediate(unsigned node) const;

 private:
  static constexpr unsigned unknown = ~0u;
  unsigned intersect(unsigned a, unsigned b) const;

  unsigned root_ = 0;            // a node after all ends
  std::vector<unsigned> order_;  // position in a post-order walk of the reversed graph
  std::vector<unsigned> immediate_;
};

}  // namespace sluice
