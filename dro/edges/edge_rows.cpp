#include "dro/edges/edge_rows.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "relation/loop_program.hpp"

namespace sluice::dro {
namespace {

constexpr int dimensions = 6;  // slave z, y, x, then master z, y, x: the order of linear numbers
constexpr size_t most_row_ranges = size_t{1} << 24;
constexpr uint64_t most_rows = uint64_t{1} << 26;

using Position = std::array<int64_t, dimensions>;

// RowBuilder runs the loops and collects rows. Pairs come in lexicographic order; a pair out of
// order, too many ranges, or numbers past 64 bits end it with false.
class RowBuilder {
 public:
  RowBuilder(const Dim3& master_grid, const Dim3& slave_grid, size_t variable_count)
      : masters_(master_grid), slaves_(slave_grid), variables_(variable_count) {}

  bool run(const LoopNode& node);
  // finish() is all rows, once the loops were run.
  std::optional<RangeEdges> finish() {
    if (variables_.overflowed || !open_row(slaves_.count())) return std::nullopt;
    return std::move(edges_);
  }

 private:
  bool run_loop(const LoopNode& loop);
  bool run_bounded(const LoopNode& loop, int64_t first, int64_t last, int64_t step);
  bool add(const Position& from, int64_t last_x);
  bool open_row(uint64_t slave);

  // position() is the pair that a visit stands for while `variable` has `value`.
  Position position(const LoopNode& visit, int variable, int64_t value) {
    variables_.values[variable] = value;
    return position(visit);
  }
  Position position(const LoopNode& visit) {
    Position at;
    for (int i = 0; i < dimensions; ++i)
      at[i] = evaluate(visit.expressions[i], variables_);
    return at;
  }

  const Dim3 masters_, slaves_;
  LoopVariables variables_;
  RangeEdges edges_{{0}, {}};
};

bool RowBuilder::run(const LoopNode& node) {
  if (variables_.overflowed) return false;
  switch (node.kind) {
    case LoopNode::Kind::loop:
      return run_loop(node);
    case LoopNode::Kind::visit: {
      const Position at = position(node);
      return add(at, at[dimensions - 1]);
    }
    case LoopNode::Kind::condition:
      if (evaluate(node.expressions[0], variables_) != 0) return run(node.children[0]);
      return node.children.size() < 2 || run(node.children[1]);
    case LoopNode::Kind::sequence:
      break;
  }
  return std::all_of(node.children.begin(), node.children.end(),
                     [this](const LoopNode& child) { return run(child); });
}

bool RowBuilder::run_loop(const LoopNode& loop) {
  const int64_t first = evaluate(loop.expressions[0], variables_);
  if (loop.expressions.size() == 1) return run_bounded(loop, first, first, 1);
  const Expression& condition = loop.expressions[1];
  const int64_t step = evaluate(loop.expressions[2], variables_);
  const bool upper_bound =
      condition.operation == isl_ast_expr_op_le || condition.operation == isl_ast_expr_op_lt;
  if (upper_bound && condition.arguments[0].kind == Expression::Kind::variable &&
      condition.arguments[0].value == loop.variable) {
    const int64_t limit = evaluate(condition.arguments[1], variables_);
    const bool open = condition.operation == isl_ast_expr_op_lt;
    return run_bounded(loop, first, open ? limit - 1 : limit, step);
  }
  for (int64_t value = first;; value += step) {
    variables_.values[loop.variable] = value;
    if (evaluate(condition, variables_) == 0) return true;
    if (!run(loop.children[0])) return false;
  }
}

bool RowBuilder::run_bounded(const LoopNode& loop, int64_t first, int64_t last, int64_t step) {
  if (first > last) return true;
  const LoopNode& body = loop.children[0];
  if (step == 1 && body.kind == LoopNode::Kind::visit) {
    const Position begin = position(body, loop.variable, first);
    const Position end = position(body, loop.variable, last);
    const bool one_row = std::equal(begin.begin(), begin.end() - 1, end.begin());
    if (one_row && end.back() - begin.back() == last - first) return add(begin, end.back());
  }
  for (int64_t value = first; value <= last; value += step) {
    variables_.values[loop.variable] = value;
    if (!run(body)) return false;
  }
  return true;
}

// add() adds the masters from.x .. last_x of one row of masters to the slave's row.
bool RowBuilder::add(const Position& from, int64_t last_x) {
  if (variables_.overflowed) return false;
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

bool RowBuilder::open_row(uint64_t slave) {
  if (slave + 1 < edges_.rows.size()) return false;
  edges_.rows.resize(slave + 1, static_cast<uint32_t>(edges_.ranges.size()));
  return true;
}

}  // namespace

std::optional<RangeEdges> draw_ranges(const isl::map& edges, const Dim3& master_grid,
                                      const Dim3& slave_grid) {
  if (slave_grid.count() > most_rows) return std::nullopt;
  const isl::map in_order(edges.ctx(),
                          "{ [B[sx, sy, sz] -> B[mx, my, mz]] -> E[sz, sy, sx, mz, my, mx] }");
  const auto loops = generate_loops(edges.wrap().apply(in_order));
  if (!loops) return std::nullopt;
  RowBuilder rows(master_grid, slave_grid, loops->variable_count);
  if (!rows.run(loops->root)) return std::nullopt;
  return rows.finish();
}

}  // namespace sluice::dro
