#include "expressions.hpp"

#include <utility>

namespace sluice::nests {
namespace {

Expr make(Op op, std::vector<Expr> operands = {}, int64_t value = 0, uint32_t index = 0) {
  return std::make_shared<const Expression>(Expression{op, value, index, std::move(operands)});
}

// What wraps around may be anything.
Value bounded(Value value) {
  if (value.low < INT32_MIN || value.high > INT32_MAX) {
    value.low = INT32_MIN;
    value.high = INT32_MAX;
  }
  return value;
}

}  // namespace

Value Expressions::constant(int64_t value) const {
  return {make(Op::constant, {}, value), value, value, true, false};
}

Value Expressions::scalar(uint32_t index) const {
  const int64_t value = nest_.scalars[index];
  return {make(Op::scalar, {}, 0, index), value, value, true, false};
}

Value Expressions::variable(const Variable& variable) {
  return {make(Op::variable, {}, 0, variable.index), variable.low, variable.high, variable.uniform,
          variable.owned};
}

Value Expressions::leaf(Op op) const {
  const auto threads = int64_t(nest_.block.count());
  switch (op) {
    case Op::tid_x:
      return {make(op), 0, int64_t(nest_.block.x) - 1, false, false};
    case Op::thread:
      return {make(op), 0, threads - 1, false, nest_.grid.count() == 1};
    case Op::global:
      return {make(op), 0, all_threads() - 1, false, true};
    case Op::block:
      return {make(op), 0, int64_t(nest_.grid.x) - 1, true, false};
    case Op::threads:
      return {make(op), threads, threads, true, false};
    default:
      return {make(Op::all), all_threads(), all_threads(), true, false};
  }
}

Value Expressions::combine(Op op, const Value& a, const Value& b) const {
  Value result{make(op, {a.expression, b.expression}), INT32_MIN, INT32_MAX, a.uniform && b.uniform,
               false};
  const bool natural = a.low >= 0 && b.low >= 0;
  switch (op) {
    case Op::add:
      result.low = a.low + b.low;
      result.high = a.high + b.high;
      break;
    case Op::subtract:
      result.low = a.low - b.high;
      result.high = a.high - b.low;
      break;
    case Op::multiply: {
      const int64_t corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
      result.low = *std::min_element(corners, corners + 4);
      result.high = *std::max_element(corners, corners + 4);
      break;
    }
    case Op::minimum:
      result.low = std::min(a.low, b.low);
      result.high = std::min(a.high, b.high);
      break;
    case Op::maximum:
      result.low = std::max(a.low, b.low);
      result.high = std::max(a.high, b.high);
      break;
    case Op::bit_and:
      if (b.low >= 0) result.low = 0, result.high = b.high;
      break;
    case Op::remainder:
      if (natural) result.low = 0, result.high = std::min(a.high, b.high - 1);
      break;
    case Op::shift_right:
      if (natural) result.low = 0, result.high = a.high;
      break;
    default:
      break;
  }
  return bounded(result);
}

Value Expressions::any_leaf(bool uniform) {
  const int64_t kind = dice_.between(0, 99);
  if (kind < 45) {
    std::vector<Variable> fit;
    for (const Variable& variable : scope_) {
      if (variable.uniform || !uniform) fit.push_back(variable);
    }
    if (!fit.empty()) return variable(fit[dice_.bits() % fit.size()]);
  }
  if (kind < 60) return scalar(uint32_t(dice_.bits() % nest_.scalars.size()));
  if (kind < 75 || uniform) {
    return dice_.chance(80) ? constant(dice_.between(-3, 12))
                            : leaf(dice_.one_of({Op::block, Op::threads, Op::all}));
  }
  return leaf(dice_.one_of({Op::tid_x, Op::thread, Op::thread, Op::global, Op::block}));
}

Value Expressions::any(bool uniform, unsigned depth) {
  if (depth == 0 || dice_.chance(30)) return any_leaf(uniform);
  if (dice_.chance(20)) {
    const Value index = element(uniform);
    return {make(Op::loaded, {index.expression}), 0, largest_number - 1, uniform, false};
  }
  if (dice_.chance(8)) {
    const Value a = any_leaf(uniform), b = any_leaf(uniform);
    const Value c = any(uniform, depth - 1), d = any(uniform, depth - 1);
    return {make(Op::select, {a.expression, b.expression, c.expression, d.expression}),
            std::min(c.low, d.low), std::max(c.high, d.high), uniform, false};
  }
  const Value a = any(uniform, depth - 1);
  switch (dice_.between(0, 9)) {
    case 0:
      return combine(Op::remainder, a, constant(dice_.between(1, 9)));
    case 1:
      return combine(Op::shift_right, a, constant(dice_.between(0, 4)));
    case 2:
      return combine(Op::bit_and, a, constant(dice_.one_of<int64_t>({1, 3, 7, 12})));
    case 3:
      return combine(Op::multiply, a, constant(dice_.between(-3, 5)));
    case 4:
      return combine(Op::bit_xor, a, any_leaf(uniform));
    case 5:
      return combine(dice_.one_of({Op::minimum, Op::maximum}), a, any_leaf(uniform));
    case 6:
      return combine(Op::subtract, a, any_leaf(uniform));
    default:
      return combine(Op::add, a, any_leaf(uniform));
  }
}

Value Expressions::small(bool uniform, int64_t most) {
  if (dice_.chance(35)) return constant(dice_.between(0, most));
  Value value = any(uniform, 1);
  if (value.low >= 0 && value.high <= most) return value;
  int64_t mask = 1;
  while (mask * 2 + 1 <= most)
    mask = mask * 2 + 1;
  return combine(Op::bit_and, value, constant(mask));
}

Value Expressions::within_buffer(Value value) const {
  if (value.low >= 0 && value.high < elements) return value;
  const bool owned = value.owned;
  value = combine(Op::bit_and, value, constant(elements - 1));
  // All threads are a power of two, or what is cut off changes the owner.
  value.owned = owned && elements % all_threads() == 0;
  return value;
}

Value Expressions::element(bool uniform) {
  std::vector<Variable> inside;
  for (const Variable& variable : scope_) {
    if (variable.low >= 0 && variable.high < elements && (variable.uniform || !uniform)) {
      inside.push_back(variable);
    }
  }
  const auto chosen = [&] { return variable(inside[dice_.bits() % inside.size()]); };
  const int64_t kind = dice_.between(0, 99);
  if (kind < 45 && !inside.empty()) return chosen();
  if (kind < 60 && !inside.empty()) {
    return within_buffer(combine(Op::add, chosen(), constant(dice_.between(0, 9))));
  }
  if (kind < 85 && !uniform) {
    // A row that all threads share, and the thread's place in it.
    const Value row = small(dice_.chance(70), 6);
    const Value place = leaf(dice_.one_of({Op::tid_x, Op::thread, Op::global}));
    return within_buffer(combine(
        Op::add, combine(Op::multiply, row, leaf(dice_.one_of({Op::threads, Op::all}))), place));
  }
  return within_buffer(any(uniform, 1));
}

Condition Expressions::condition(bool uniform) {
  Condition condition;
  condition.comparison =
      dice_.one_of({Comparison::less, Comparison::less, Comparison::less_equal, Comparison::greater,
                    Comparison::greater_equal, Comparison::equal, Comparison::not_equal});
  const Value left = any(uniform, 1);
  condition.left = left.expression;
  const bool is_small = left.high - left.low < 64;
  condition.right = is_small ? constant(dice_.between(left.low, left.high)).expression
                             : any(uniform, 1).expression;
  return condition;
}

Condition Expressions::condition_of_warp() {
  const auto warps = int64_t(nest_.block.count() + 31) / 32;
  return {dice_.one_of({Comparison::less, Comparison::equal, Comparison::greater}),
          combine(Op::shift_right, leaf(Op::thread), constant(5)).expression,
          constant(dice_.between(0, warps - 1)).expression};
}

}  // namespace sluice::nests
