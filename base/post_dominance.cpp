#include "base/post_dominance.hpp"

#include <cstddef>
#include <utility>

namespace sluice {

PostDominance::PostDominance(const std::vector<std::vector<unsigned>>& successors)
    : root_(static_cast<unsigned>(successors.size())),
      order_(successors.size() + 1, unknown),
      immediate_(successors.size() + 1, unknown) {
  std::vector<std::vector<unsigned>> forward = successors;
  forward.emplace_back();
  std::vector<std::vector<unsigned>> backward(forward.size());
  for (unsigned node = 0; node < root_; ++node) {
    if (forward[node].empty()) forward[node].push_back(root_);
    for (unsigned successor : forward[node])
      backward[successor].push_back(node);
  }

  std::vector<unsigned> post_order;
  std::vector<std::pair<unsigned, size_t>> stack = {{root_, 0}};
  std::vector<bool> seen(forward.size(), false);
  seen[root_] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == backward[node].size()) {
      order_[node] = static_cast<unsigned>(post_order.size());
      post_order.push_back(node);
      stack.pop_back();
      continue;
    }
    const unsigned predecessor = backward[node][next++];
    if (!seen[predecessor]) {
      seen[predecessor] = true;
      stack.push_back({predecessor, 0});
    }
  }

  immediate_[root_] = root_;
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = post_order.size() - 1; i-- > 0;) {
      const unsigned node = post_order[i];
      unsigned best = unknown;
      for (unsigned successor : forward[node]) {
        if (immediate_[successor] == unknown) continue;
        best = best == unknown ? successor : intersect(successor, best);
      }
      if (best != immediate_[node]) {
        immediate_[node] = best;
        changed = true;
      }
    }
  }
}

unsigned PostDominance::intersect(unsigned a, unsigned b) const {
  while (a != b) {
    while (order_[a] < order_[b])
      a = immediate_[a];
    while (order_[b] < order_[a])
      b = immediate_[b];
  }
  return a;
}

std::optional<unsigned> PostDominance::immediate(unsigned node) const {
  const unsigned result = immediate_[node];
  if (result == unknown || result == root_) return std::nullopt;
  return result;
}

}  // namespace sluice
