#include "dro/edges/edge_rows.hpp"

#include <span>
#include <utility>

#include "relation/loop_program.hpp"

namespace sluice::dro {
namespace {

// So many rows without an edge are put down in a step.
constexpr uint64_t rows_a_step = 16;

// RowBuilder collects rows of pairs (slave z, y, x, master z, y, x): linear numbers ascend as they
// do. A pair out of order or a spent budget end it with false.
class RowBuilder {
 public:
  RowBuilder(const Dim3& master_grid, const Dim3& slave_grid, Budget& budget)
      : masters_(master_grid), slaves_(slave_grid), budget_(budget) {}

  // add() adds the masters from x = from[5] to last_x to the slave's row.
  bool add(std::span<const int64_t> from, int64_t last_x) {
    const int64_t slave = from[2] + slaves_.x * (from[1] + int64_t{slaves_.y} * from[0]);
    const int64_t row = masters_.x * (from[4] + int64_t{masters_.y} * from[3]);
    if (!open_row(static_cast<uint64_t>(slave))) return false;
    const BlockRange added = {static_cast<uint32_t>(row + from[5]),
                              static_cast<uint32_t>(row + last_x)};
    const bool in_order =
        edges_.ranges.size() == edges_.rows.back() || added.first > edges_.ranges.back().last;
    if (!in_order || !budget_.make<BlockRange>(1)) return false;
    edges_.add(added);
    return true;
  }

  // finish() is all rows.
  std::optional<RangeEdges> finish() {
    if (!open_row(slaves_.count())) return std::nullopt;
    return std::move(edges_);
  }

 private:
  bool open_row(uint64_t slave) {
    if (slave + 1 < edges_.rows.size()) return false;
    if (!budget_.make<uint32_t>(slave + 1 - edges_.rows.size(), rows_a_step)) return false;
    edges_.rows.resize(slave + 1, static_cast<uint32_t>(edges_.ranges.size()));
    return true;
  }

  const Dim3 masters_, slaves_;
  Budget& budget_;
  RangeEdges edges_{{0}, {}};
};

}  // namespace

std::optional<RangeEdges> draw_ranges(const isl::map& edges, const Dim3& master_grid,
                                      const Dim3& slave_grid, Budget& budget) {
  const isl::map in_order(edges.ctx(),
                          "{ [B[sx, sy, sz] -> B[mx, my, mz]] -> E[sz, sy, sx, mz, my, mx] }");
  const auto loops = generate_loops(edges.wrap().apply(in_order));
  if (!loops) return std::nullopt;
  RowBuilder rows(master_grid, slave_grid, budget);
  const bool whole = visit_rows(*loops, LoopVariables(loops->variable_count), budget,
                                [&](auto from, int64_t last) { return rows.add(from, last); });
  return whole ? rows.finish() : std::nullopt;
}

}  // namespace sluice::dro
