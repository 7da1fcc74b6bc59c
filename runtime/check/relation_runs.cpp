#include "runtime/check/relation_runs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <isl/map.h>

#include "base/assert.hpp"
#include "relation/isl_context.hpp"
#include "relation/isl_relation.hpp"

namespace sluice::runtime {
namespace {

constexpr unsigned long operation_budget = 100'000'000;
// Loops that run in vain more often than this are left to isl's.
constexpr size_t most_steps = size_t{1} << 24;
constexpr std::array index_names = {"X", "Y", "Z"};

// RunCollector runs the loops of one block's bytes.
class RunCollector {
 public:
  explicit RunCollector(LoopVariables variables) : variables_(std::move(variables)) {}

  // run() is nothing where numbers pass 64 bits.
  std::optional<ByteRuns> run(const LoopNode& root) {
    visit(root);
    if (variables_.overflowed) return std::nullopt;
    normalise(runs_);
    return std::move(runs_);
  }

 private:
  int64_t value(const Expression& expression) { return evaluate(expression, variables_); }

  void visit(const LoopNode& node) {
    if (variables_.overflowed) return;
    using Kind = LoopNode::Kind;
    switch (node.kind) {
      case Kind::loop:
        return loop(node);
      case Kind::visit: {
        const int64_t byte = value(node.expressions.back());
        return add(byte, byte + 1);
      }
      case Kind::condition:
        if (value(node.expressions[0]) != 0) return visit(node.children[0]);
        if (node.children.size() > 1) visit(node.children[1]);
        return;
      case Kind::sequence:
        for (const LoopNode& child : node.children)
          visit(child);
    }
  }

  void loop(const LoopNode& node) {
    const int64_t first = value(node.expressions[0]);
    variables_.values[node.variable] = first;
    if (node.expressions.size() == 1) return visit(node.children[0]);
    const Expression& condition = node.expressions[1];
    const int64_t step = value(node.expressions[2]);
    // A loop over neighbouring bytes is one run.
    const LoopNode& body = node.children[0];
    const bool counts_up =
        condition.operation == isl_ast_expr_op_le || condition.operation == isl_ast_expr_op_lt;
    if (step == 1 && counts_up && is_variable(condition.arguments[0], node.variable) &&
        body.kind == LoopNode::Kind::visit && is_variable(body.expressions.back(), node.variable)) {
      const int64_t limit = value(condition.arguments[1]);
      return add(first, condition.operation == isl_ast_expr_op_lt ? limit : limit + 1);
    }
    for (int64_t at = first;; at += step) {
      variables_.values[node.variable] = at;
      if (value(condition) == 0 || variables_.overflowed) return;
      visit(body);
    }
  }

  static bool is_variable(const Expression& expression, int variable) {
    return expression.kind == Expression::Kind::variable && expression.value == variable;
  }

  void add(int64_t first, int64_t end) {
    if (first >= end) return;
    if (!runs_.empty() && runs_.back().end == first) {
      runs_.back().end = end;
    } else {
      runs_.push_back({first, end});
    }
  }

  LoopVariables variables_;
  ByteRuns runs_;
};

// with_bytes_last() is [e, o]: the byte o after the existential variables e of a piece, so that
// loops over the piece run through e outside, where a floor or a thread picks a row, and through
// neighbouring bytes inside. Null where isl gives up or the lifted piece is not the same bytes.
isl::set with_bytes_last(const isl::basic_set& piece) {
  const isl::set lifted = isl::manage(isl_set_from_basic_set(isl_basic_set_lift(piece.copy())));
  if (lifted.is_null()) return lifted;
  if (!lifted.is_wrapping()) return lifted;
  const isl::map variables = lifted.unwrap();
  if (!yes(variables.domain().is_equal(isl::set(piece)))) return {};
  return variables.reverse().wrap().flatten();
}

// pieces_with_bytes_last() holds one null set where isl gives up.
std::vector<isl::set> pieces_with_bytes_last(const isl::set& bytes) {
  std::vector<isl::set> pieces;
  if (bytes.is_null()) return {isl::set()};
  const isl::stat done = bytes.foreach_basic_set([&](isl::basic_set piece) {
    pieces.push_back(with_bytes_last(piece));
    return isl::stat::ok();
  });
  if (!done.is_ok()) return {isl::set()};
  return pieces;
}

// with_block_as_parameters() is { B[0, 0, 0] -> A[o] } with the block's indices as the last three
// parameters.
isl::map with_block_as_parameters(const isl::map& relation) {
  const auto first = static_cast<unsigned>(isl_map_dim(relation.get(), isl_dim_param));
  isl_map* map = isl_map_move_dims(isl_map_reset_tuple_id(relation.copy(), isl_dim_in),
                                   isl_dim_param, first, isl_dim_in, 0, 3);
  for (unsigned i = 0; i < 3; ++i)
    map = isl_map_set_dim_name(map, isl_dim_param, first + i, index_names[i]);
  map = isl_map_add_dims(map, isl_dim_in, 3);
  for (unsigned i = 0; i < 3; ++i)
    map = isl_map_fix_si(map, isl_dim_in, i, 0);
  return isl::manage(map);
}

}  // namespace

Result<std::shared_ptr<RelationRuns>> RelationRuns::create(const Relation& relation) {
  if (!relation.is_whole())
    return invalid_input("the rows of a relation have not all their columns");
  IslContext context;
  const IslContext::Budget budget(context, operation_budget);
  auto runs = std::make_shared<RelationRuns>();
  runs->relation_ = relation;
  const isl::map of_block = with_block_as_parameters(map_of(context.get(), relation));
  if (!of_block.is_null()) runs->loops_ = AccessLoops::make(of_block);
  return runs;
}

std::optional<ByteRuns> RelationRuns::of(const BlockIndex& block,
                                         std::span<const int64_t> parameters) {
  if (!loops_) return run_generated(block, parameters);
  const auto own = parameters.first(relation_.parameters);
  std::vector<int64_t> values(own.begin(), own.end());
  values.insert(values.end(), {block.x, block.y, block.z});
  std::vector<sluice::ByteRun> listed;
  if (!loops_->list(values, {1, 1, 1}, most_steps, listed)) return run_generated(block, parameters);
  ByteRuns runs;
  runs.reserve(listed.size());
  for (const sluice::ByteRun& run : listed)
    runs.push_back({run.first, run.last + 1});
  normalise(runs);
  return runs;
}

void RelationRuns::generate() {
  IslContext context;
  const IslContext::Budget budget(context, operation_budget);
  const isl::map one_block(context.get(),
                           "[X, Y, Z] -> { [B[x, y, z] -> A[o]] -> T[o] : x = X and y = Y and "
                           "z = Z }");
  const isl::map relation = map_of(context.get(), relation_);
  std::vector<LoopProgram> programs;
  for (const isl::set& points : pieces_with_bytes_last(relation.wrap().apply(one_block))) {
    std::optional<LoopProgram> program;
    if (!points.is_null()) program = generate_loops(points);
    if (!program) return;
    programs.push_back(std::move(*program));
  }
  programs_ = std::move(programs);
}

std::optional<ByteRuns> RelationRuns::run_generated(const BlockIndex& block,
                                                    std::span<const int64_t> parameters) {
  std::call_once(generated_, [&] { generate(); });
  if (!programs_) return std::nullopt;
  ByteRuns runs;
  for (const LoopProgram& program : *programs_) {
    LoopVariables variables(program.variable_count);
    const auto set = [&](const std::string& name, int64_t value) {
      const auto found = program.slots.find(name);
      if (found != program.slots.end())
        variables.values[static_cast<size_t>(found->second)] = value;
    };
    set(index_names[0], block.x);
    set(index_names[1], block.y);
    set(index_names[2], block.z);
    for (size_t i = 0; i < relation_.parameters; ++i)
      set(fmt::format("p{}", i), parameters[i]);
    const std::optional<ByteRuns> more = RunCollector(std::move(variables)).run(program.root);
    if (!more) return std::nullopt;
    runs.insert(runs.end(), more->begin(), more->end());
  }
  if (programs_->size() > 1) normalise(runs);
  return runs;
}

}  // namespace sluice::runtime
