// The loops that isl generates to visit a set of points in order, read once from isl's syntax tree
// so that running them needs no isl: some nanoseconds a step, where walking isl's own points costs
// about 2 microseconds each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <isl/ast_type.h>

#include "relation/budget.hpp"
#include "relation/isl_context.hpp"

namespace sluice {

// Expression is an isl AST expression, read once so that running it needs no isl.
struct Expression {
  enum class Kind { constant, variable, operation };
  Kind kind = Kind::constant;
  int64_t value = 0;  // the constant, or the variable's slot
  isl_ast_expr_op_type operation = isl_ast_expr_op_error;
  std::vector<Expression> arguments;
};

// LoopVariables are the variables of running loops.
struct LoopVariables {
  explicit LoopVariables(size_t count) : values(count) {}

  std::vector<int64_t> values;  // one for each slot
  // Some value did not fit in 64 bits. What was computed from then on means nothing.
  bool overflowed = false;
};

// evaluate() computes a value.
int64_t evaluate(const Expression& expression, LoopVariables& variables);

// LoopNode is a loop, a condition, a sequence or the visit of one point.
struct LoopNode {
  enum class Kind { loop, condition, sequence, visit };
  Kind kind = Kind::sequence;
  int variable = 0;  // loop
  // loop: first, condition, step, or first alone where it runs once; condition: one; visit: the
  // coordinates of the point.
  std::vector<Expression> expressions;
  std::vector<LoopNode> children;
  uint64_t steps = 1;  // that its own expressions take
};

struct LoopProgram {
  LoopNode root;
  size_t variable_count = 0;
  std::map<std::string, int> slots;  // of the variables by name: loop counters and parameters
};

// RowVisitor is given points in their order: `from`, and all up to `last` in its last coordinate.
// It says whether to go on.
using RowVisitor = std::function<bool(std::span<const int64_t> from, int64_t last)>;

// visit_rows() runs the loops, with the parameters' values among the variables. False where the
// visitor ended them, numbers passed 64 bits, or the budget is spent.
bool visit_rows(const LoopProgram& program, LoopVariables variables, Budget& budget,
                const RowVisitor& visit);

// generate_loops() makes the loops that visit each point of `points` once, in lexicographic order.
// Nothing where isl gives up, or where the loops have numbers of more than 64 bits.
std::optional<LoopProgram> generate_loops(const isl::set& points);

}  // namespace sluice
