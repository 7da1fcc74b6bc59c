#include "dro/edges/edge_rows.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "dro/relations/loop_program.hpp"

namespace sluice::dro {
namespace {

constexpr int dimensions = 6;  // slave z, y, x, then master z, y, x: the order of linear numbers
constexpr size_t most_ranges = size_t{1} << 24;
constexpr uint64_t most_rows = uint64_t{1} << 26;

using Position = std::array<int64_t, dimensions>;

// RowBuilder runs the loops and collects rows. Pairs come in lexicographic order; a pair out of
// order, too many ranges, or numbers past 64 bits end it with false.
class RowBuilder {
 public:
  RowBuilder(EdgeTable& table, size_t variable_count) : table_(table), variables_(variable_count) {
    table_.rows.assign(1, 0);
    table_.ranges.clear();
  }

  bool run(const LoopNode& node);
  bool finish() { return !variables_.overflowed && open_row(table_.slave_grid.count()); }

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

  EdgeTable& table_;
  LoopVariables variables_;
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
  const Dim3& slaves = table_.slave_grid;
  const Dim3& masters = table_.master_grid;
  const int64_t slave = from[2] + slaves.x * (from[1] + int64_t{slaves.y} * from[0]);
  const int64_t row = masters.x * (from[4] + int64_t{masters.y} * from[3]);
  if (!open_row(static_cast<uint64_t>(slave))) return false;
  const auto first = static_cast<uint32_t>(row + from[5]);
  const auto last = static_cast<uint32_t>(row + last_x);
  if (table_.ranges.size() > table_.rows.back()) {
    BlockRange& open = table_.ranges.back();
    if (first <= open.last) return false;
    if (first == open.last + 1) {
      open.last = last;
      return true;
    }
  }
  table_.ranges.push_back({first, last});
  return table_.ranges.size() <= most_ranges;
}

bool RowBuilder::open_row(uint64_t slave) {
  if (slave + 1 < table_.rows.size()) return false;
  table_.rows.resize(slave + 1, static_cast<uint32_t>(table_.ranges.size()));
  return true;
}

}  // namespace

bool draw_ranges(const isl::map& edges, EdgeTable& table) {
  if (table.slave_grid.count() > most_rows) return false;
  const isl::map in_order(edges.ctx(),
                          "{ [B[sx, sy, sz] -> B[mx, my, mz]] -> E[sz, sy, sx, mz, my, mx] }");
  const auto loops = generate_loops(edges.wrap().apply(in_order));
  if (!loops) return false;
  EdgeTable drawn = table;
  RowBuilder rows(drawn, loops->variable_count);
  if (!rows.run(loops->root) || !rows.finish()) return false;
  drawn.form = EdgeForm::ranges;
  drawn.edge_count = 0;
  for (const BlockRange& range : drawn.ranges)
    drawn.edge_count += range.last - range.first + 1;
  table = std::move(drawn);
  return true;
}

}  // namespace sluice::dro
