#include "relation/loop_program.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/id.h>
#include <isl/union_map.h>
#include <isl/val.h>

#include "base/number/floor_divide.hpp"

namespace sluice {
namespace {

bool fits(isl_val* value) {
  using Limits = std::numeric_limits<long>;
  return isl_val_is_int(value) == isl_bool_true && isl_val_cmp_si(value, Limits::min()) >= 0 &&
         isl_val_cmp_si(value, Limits::max()) <= 0;
}

// So many operations of expressions are computed in a step.
constexpr uint64_t parts_a_step = 8;

uint64_t parts_of(const Expression& expression) {
  uint64_t parts = 1;
  for (const Expression& argument : expression.arguments)
    parts += parts_of(argument);
  return parts;
}

// Reader turns isl's AST into LoopNodes; `good` falls where something is met that it does not know.
class Reader {
 public:
  LoopNode read(isl_ast_node* node);  // takes the node
  bool good() const { return good_; }
  const std::map<std::string, int>& slots() const { return slots_; }

 private:
  Expression expression(isl_ast_expr* expression);  // takes the expression
  LoopNode loop(isl_ast_node* node);
  int slot(isl_ast_expr* id);  // keeps the expression

  std::map<std::string, int> slots_;
  bool good_ = true;
};

int Reader::slot(isl_ast_expr* expression) {
  isl_id* id = isl_ast_expr_get_id(expression);
  const char* name = isl_id_get_name(id);
  if (name == nullptr) good_ = false;
  const int next = static_cast<int>(slots_.size());
  const int found = slots_.emplace(name == nullptr ? "" : name, next).first->second;
  isl_id_free(id);
  return found;
}

Expression Reader::expression(isl_ast_expr* source) {
  Expression read;
  switch (isl_ast_expr_get_type(source)) {
    case isl_ast_expr_int: {
      isl_val* value = isl_ast_expr_get_val(source);
      if (fits(value)) {
        read.value = isl_val_get_num_si(value);
      } else {
        good_ = false;
      }
      isl_val_free(value);
      break;
    }
    case isl_ast_expr_id:
      read.kind = Expression::Kind::variable;
      read.value = slot(source);
      break;
    case isl_ast_expr_op: {
      read.kind = Expression::Kind::operation;
      read.operation = isl_ast_expr_get_op_type(source);
      if (read.operation == isl_ast_expr_op_error || read.operation >= isl_ast_expr_op_call) {
        good_ = false;
      }
      const int count = isl_ast_expr_get_op_n_arg(source);
      for (int i = 0; i < count; ++i) {
        read.arguments.push_back(expression(isl_ast_expr_get_op_arg(source, i)));
      }
      break;
    }
    default:
      good_ = false;
  }
  isl_ast_expr_free(source);
  return read;
}

LoopNode Reader::loop(isl_ast_node* node) {
  LoopNode loop{LoopNode::Kind::loop, 0, {}, {}};
  isl_ast_expr* iterator = isl_ast_node_for_get_iterator(node);
  loop.variable = slot(iterator);
  loop.expressions.push_back(expression(isl_ast_node_for_get_init(node)));
  if (isl_ast_node_for_is_degenerate(node) != isl_bool_true) {
    loop.expressions.push_back(expression(isl_ast_node_for_get_cond(node)));
    loop.expressions.push_back(expression(isl_ast_node_for_get_inc(node)));
  }
  isl_ast_expr_free(iterator);
  loop.children.push_back(read(isl_ast_node_for_get_body(node)));
  return loop;
}

LoopNode Reader::read(isl_ast_node* node) {
  LoopNode result;
  switch (isl_ast_node_get_type(node)) {
    case isl_ast_node_for:
      result = loop(node);
      break;
    case isl_ast_node_if:
      result.kind = LoopNode::Kind::condition;
      result.expressions.push_back(expression(isl_ast_node_if_get_cond(node)));
      result.children.push_back(read(isl_ast_node_if_get_then_node(node)));
      if (isl_ast_node_if_has_else_node(node) == isl_bool_true) {
        result.children.push_back(read(isl_ast_node_if_get_else_node(node)));
      }
      break;
    case isl_ast_node_block: {
      isl_ast_node_list* children = isl_ast_node_block_get_children(node);
      const int count = isl_ast_node_list_n_ast_node(children);
      for (int i = 0; i < count; ++i) {
        result.children.push_back(read(isl_ast_node_list_get_ast_node(children, i)));
      }
      isl_ast_node_list_free(children);
      break;
    }
    case isl_ast_node_mark:
      result = read(isl_ast_node_mark_get_node(node));
      break;
    case isl_ast_node_user: {
      result.kind = LoopNode::Kind::visit;
      isl_ast_expr* call = isl_ast_node_user_get_expr(node);
      const int count = isl_ast_expr_get_op_n_arg(call);  // the statement's name comes first
      for (int i = 1; i < count; ++i) {
        result.expressions.push_back(expression(isl_ast_expr_get_op_arg(call, i)));
      }
      isl_ast_expr_free(call);
      break;
    }
    default:
      good_ = false;
  }
  isl_ast_node_free(node);
  uint64_t parts = 0;
  for (const Expression& each : result.expressions)
    parts += parts_of(each);
  result.steps = 1 + parts / parts_a_step;
  return result;
}

}  // namespace

int64_t evaluate(const Expression& expression, LoopVariables& variables) {
  if (expression.kind == Expression::Kind::constant) return expression.value;
  if (expression.kind == Expression::Kind::variable) return variables.values[expression.value];
  const auto at = [&](size_t i) { return evaluate(expression.arguments[i], variables); };
  int64_t result = 0;
  switch (expression.operation) {
    case isl_ast_expr_op_and:
    case isl_ast_expr_op_and_then:
      return at(0) && at(1);
    case isl_ast_expr_op_or:
    case isl_ast_expr_op_or_else:
      return at(0) || at(1);
    case isl_ast_expr_op_max:
    case isl_ast_expr_op_min: {
      int64_t best = at(0);
      for (size_t i = 1; i < expression.arguments.size(); ++i) {
        const bool most = expression.operation == isl_ast_expr_op_max;
        best = most ? std::max(best, at(i)) : std::min(best, at(i));
      }
      return best;
    }
    case isl_ast_expr_op_minus:
      variables.overflowed |= __builtin_sub_overflow(int64_t{0}, at(0), &result);
      return result;
    case isl_ast_expr_op_add:
      variables.overflowed |= __builtin_add_overflow(at(0), at(1), &result);
      return result;
    case isl_ast_expr_op_sub:
      variables.overflowed |= __builtin_sub_overflow(at(0), at(1), &result);
      return result;
    case isl_ast_expr_op_mul:
      variables.overflowed |= __builtin_mul_overflow(at(0), at(1), &result);
      return result;
    case isl_ast_expr_op_div:
    case isl_ast_expr_op_pdiv_q:
      return at(0) / at(1);
    case isl_ast_expr_op_fdiv_q:
      return floor_divide(at(0), at(1));
    case isl_ast_expr_op_pdiv_r:
    case isl_ast_expr_op_zdiv_r:
      return at(0) % at(1);
    case isl_ast_expr_op_cond:
    case isl_ast_expr_op_select:
      return at(0) ? at(1) : at(2);
    case isl_ast_expr_op_eq:
      return at(0) == at(1);
    case isl_ast_expr_op_le:
      return at(0) <= at(1);
    case isl_ast_expr_op_lt:
      return at(0) < at(1);
    case isl_ast_expr_op_ge:
      return at(0) >= at(1);
    case isl_ast_expr_op_gt:
      return at(0) > at(1);
    default:
      return 0;  // read_expression() let no other operation through
  }
}

namespace {

class RowWalker {
 public:
  RowWalker(LoopVariables variables, Budget& budget, const RowVisitor& visit)
      : variables_(std::move(variables)), budget_(budget), visit_(visit) {}

  bool run_all(const LoopNode& root) { return run(root) && !variables_.overflowed; }

 private:
  bool run(const LoopNode& node);
  bool run_loop(const LoopNode& loop);
  bool run_bounded(const LoopNode& loop, int64_t first, int64_t last, int64_t step);
  bool visit(int64_t last) { return !variables_.overflowed && visit_(from_, last); }
  int64_t& value_of(const LoopNode& loop) {
    return variables_.values[static_cast<size_t>(loop.variable)];
  }

  // place() puts the point down that a visit stands for now.
  void place(const LoopNode& visit, std::vector<int64_t>& point) {
    point.clear();
    for (const Expression& each : visit.expressions)
      point.push_back(evaluate(each, variables_));
  }

  LoopVariables variables_;
  Budget& budget_;
  const RowVisitor& visit_;
  std::vector<int64_t> from_, to_;
};

bool RowWalker::run(const LoopNode& node) {
  if (variables_.overflowed || !budget_.take(node.steps)) return false;
  switch (node.kind) {
    case LoopNode::Kind::loop:
      return run_loop(node);
    case LoopNode::Kind::visit:
      place(node, from_);
      return visit(from_.back());
    case LoopNode::Kind::condition:
      if (evaluate(node.expressions[0], variables_) != 0) return run(node.children[0]);
      return node.children.size() < 2 || run(node.children[1]);
    case LoopNode::Kind::sequence:
      break;
  }
  return std::ranges::all_of(node.children, [this](const LoopNode& child) { return run(child); });
}

bool RowWalker::run_loop(const LoopNode& loop) {
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
  for (int64_t value = first; budget_.take(loop.steps); value += step) {
    value_of(loop) = value;
    if (evaluate(condition, variables_) == 0) return true;
    if (!run(loop.children[0])) return false;
  }
  return false;
}

bool RowWalker::run_bounded(const LoopNode& loop, int64_t first, int64_t last, int64_t step) {
  if (first > last) return true;
  const LoopNode& body = loop.children[0];
  if (step == 1 && body.kind == LoopNode::Kind::visit) {
    value_of(loop) = last;
    place(body, to_);
    value_of(loop) = first;
    place(body, from_);
    const bool one_row = std::equal(from_.begin(), from_.end() - 1, to_.begin());
    if (one_row && to_.back() - from_.back() == last - first) return visit(to_.back());
  }
  for (int64_t value = first; value <= last; value += step) {
    value_of(loop) = value;
    if (!run(body)) return false;
  }
  return true;
}

}  // namespace

bool visit_rows(const LoopProgram& program, LoopVariables variables, Budget& budget,
                const RowVisitor& visit) {
  return RowWalker(std::move(variables), budget, visit).run_all(program.root);
}

std::optional<LoopProgram> generate_loops(const isl::set& points) {
  const isl::union_map schedule(points.identity());
  isl_ast_build* build = isl_ast_build_alloc(points.ctx().get());
  isl_ast_node* root = isl_ast_build_node_from_schedule_map(build, schedule.copy());
  isl_ast_build_free(build);
  if (root == nullptr) return std::nullopt;
  Reader reader;
  LoopProgram program;
  program.root = reader.read(root);
  program.slots = reader.slots();
  program.variable_count = program.slots.size();
  if (!reader.good()) return std::nullopt;
  return program;
}

}  // namespace sluice
