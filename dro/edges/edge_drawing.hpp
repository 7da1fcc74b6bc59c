// Drawing: a relation between blocks becomes an edge table in the cheapest form that says it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "dro/declared_hash.hpp"
#include "dro/edges/edge_table.hpp"
#include "dro/types.hpp"
#include "relation/isl_context.hpp"

namespace sluice::dro {

// draw_edges() turns { B[slave] -> B[master] } into a table: `all` where the relation is a product
// of boxes, `neighbours` where it is a few fixed offsets between boxes (both proven by isl's
// equality), else `ranges`, found by running the loops that isl generates for the relation. Should
// the budget be spent, the answer is widened to `all` between the relation's boxes or whole grids:
// more order than needed, never less. So is that of a null relation.
EdgeTable draw_edges(const IslContext& context, const isl::map& edges, const Dim3& master_grid,
                     const Dim3& slave_grid, Budget& budget);

// EdgeTableStore keeps each content once, under one id. Tables of rows are held to a number of
// bytes, each and all together: what would go beyond is widened(), so that a launch then waits for
// all blocks of its master that any of its blocks waits for.
class EdgeTableStore {
 public:
  struct Limits {
    uint64_t table_bytes = uint64_t{64} << 20U;
    uint64_t all_bytes = uint64_t{512} << 20U;
  };
  EdgeTableStore() = default;
  explicit EdgeTableStore(const Limits& limits) : limits_(limits) {}

  // add() returns the id of the equal table, or a new one; `added` says which. Past the budget it
  // is widened too.
  EdgeTableId add(EdgeTable table, bool& added, Budget& budget);
  const EdgeTable& table(EdgeTableId id) const { return *tables_[id]; }
  size_t size() const { return tables_.size(); }

 private:
  Limits limits_;
  uint64_t bytes_ = 0;  // of rows and ranges
  std::unordered_map<EdgeTable, EdgeTableId, DeclaredHash> ids_;
  std::vector<const EdgeTable*> tables_;  // in ids_, where they stay: windows point at them
};

}  // namespace sluice::dro
