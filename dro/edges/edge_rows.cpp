#include "dro/edges/edge_rows.hpp"

#include <span>
#include <utility>

#include "relation/loop_program.hpp"

namespace sluice::dro {
namespace {

constexpr size_t most_row_ranges = size_t{1} << 24;
constexpr uint64_t most_rows = uint64_t{1} << 26;

// RowBuilder collects rows of pairs (slave z, y, x, master z, y, x): linear numbers ascend as they
// do. A pair out of order or too many ranges end it with false.
class RowBuilder {
 public:
  RowBuilder(const Dim3& master_grid, const Dim3& slave_grid)
      : masters_(master_grid), slaves_(slave_grid) {}

  // add() adds the masters from x = from[5] to last_x to the slave's row.
  bool add(std::span<const int64_t> from, int64_t last_x) {
    const int64_t slave = from[2] + slaves_.x * (from[1] + int64_t{slaves_.y} * from[0]);
    const int64_t row = masters_.x * (from[4] + int64_t{masters_.y} * from[3]);
    if (!open_row(static_cast<uint64_t>(slave))) return false;
    const BlockRange added = {static_cast<uint32_t>(row + from[5]),
                              static_cast<uint32_t>(row + last_x)};
    const bool in_order =
        edges_.ranges.size() == edges_.rows.back() || added.first > edges_.ranges.back().last;
    if (in_order) edges_.add(added);
    return in_order && edges_.ranges.size() <= most_row_ranges;
  }

  // finish() is all rows.
  std::optional<RangeEdges> finish() {
    if (!open_row(slaves_.count())) return std::nullopt;
    return std::move(edges_);
  }

 private:
  bool open_row(uint64_t slave) {
    if (slave + 1 < edges_.rows.size()) return false;
    edges_.rows.resize(slave + 1, static_cast<uint32_t>(edges_.ranges.size()));
    return true;
  }

  const Dim3 masters_, slaves_;
  RangeEdges edges_{{0}, {}};
};

}  // namespace

std::optional<RangeEdges> draw_ranges(const isl::map& edges, const Dim3& master_grid,
                                      const Dim3& slave_grid) {
  if (slave_grid.count() > most_rows) return std::nullopt;
  const isl::map in_order(edges.ctx(),
                          "{ [B[sx, sy, sz] -> B[mx, my, mz]] -> E[sz, sy, sx, mz, my, mx] }");
  const auto loops = generate_loops(edges.wrap().apply(in_order));
  if (!loops) return std::nullopt;
  RowBuilder rows(master_grid, slave_grid);
  const bool whole = visit_rows(*loops, LoopVariables(loops->variable_count),
                                [&](auto from, int64_t last) { return rows.add(from, last); });
  return whole ? rows.finish() : std::nullopt;
}

}  // namespace sluice::dro
