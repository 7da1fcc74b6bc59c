// Drawing: a relation between blocks becomes an edge table in the cheapest form that says it.
#pragma once

#include <deque>
#include <unordered_map>

#include "dro/edge_table.hpp"
#include "dro/relations.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

// draw_edges() turns { B[slave] -> B[master] } into a table: `all` where the relation is a product
// of boxes, `neighbours` where it is a few fixed offsets between boxes (both proven by isl's
// equality), else `ranges`, found by running the loops that isl generates for the relation. Should
// isl or the table pass their limits, the answer is widened to `all` between the relation's boxes
// or whole grids: more order than needed, never less. `budget` is in isl's operations; the usual
// one is worth some seconds.
constexpr unsigned long drawing_budget = 20'000'000;
EdgeTable draw_edges(IslContext& context, const isl::map& edges, const Dim3& master_grid,
                     const Dim3& slave_grid, unsigned long budget = drawing_budget);

// EdgeTableStore keeps each content once, under one id.
class EdgeTableStore {
 public:
  // add() returns the id of the equal table, or a new one; `added` says which.
  EdgeTableId add(EdgeTable table, bool& added);
  const EdgeTable& table(EdgeTableId id) const { return tables_[id]; }
  size_t size() const { return tables_.size(); }

 private:
  std::deque<EdgeTable> tables_;  // stable addresses: windows point at them
  std::unordered_multimap<uint64_t, EdgeTableId> by_hash_;
};

}  // namespace sluice::dro
