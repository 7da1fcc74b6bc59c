#include "work.hpp"

#include <algorithm>

namespace sluice::nests {

using Kind = Statement::Kind;

Statement Work::any() {
  Statement statement;
  switch (dice_.between(0, 9)) {
    case 0:
      statement.kind = Kind::assign;
      statement.variable = uint32_t(dice_.bits() % assigned_);
      statement.left = expressions_.any(false).expression;
      break;
    case 1:
      statement.kind = Kind::tally;
      statement.left = expressions_.any(false, 1).expression;
      statement.right = expressions_.any(false, 1).expression;
      break;
    case 2:
    case 3:
      statement.kind = Kind::add;
      statement.left = expressions_.any(false).expression;
      break;
    case 4:
    case 5:
      statement.kind = Kind::add_real;
      statement.left = expressions_.element(false).expression;
      break;
    case 6:
    case 7:
      statement.kind = Kind::column;
      statement.left = owned_element().expression;
      statement.right = expressions_.any(false).expression;
      break;
    default:
      statement.kind = Kind::store;
      statement.real = dice_.chance(50);
      statement.left = expressions_.element(false).expression;
      break;
  }
  return statement;
}

// The thread's own element where a loop stands, or in one of the first rows.
Value Work::owned_element() {
  for (const Variable& variable : expressions_.scope()) {
    const bool fits = variable.owned && variable.low >= 0 && variable.high < elements;
    if (fits && dice_.chance(70)) return Expressions::variable(variable);
  }
  const int64_t rows = std::min<int64_t>(8, elements / expressions_.all_threads());
  const Value row = expressions_.small(dice_.chance(60), rows - 1);
  return expressions_.combine(Op::add,
                              expressions_.combine(Op::multiply, row, expressions_.leaf(Op::all)),
                              expressions_.leaf(Op::global));
}

Statements Work::sweep(const Variable& variable) {
  Statements all;
  const Expr place = Expressions::variable(variable).expression;
  const int64_t count = dice_.between(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    Statement statement;
    statement.kind = dice_.one_of({Kind::add, Kind::add_real, Kind::store, Kind::column});
    if (statement.kind == Kind::column && !variable.owned) statement.kind = Kind::store;
    statement.left = place;
    statement.real = dice_.chance(50);
    if (statement.kind == Kind::column) {
      statement.right = expressions_.any(false, 0).expression;
    }
    if (dice_.chance(15)) {
      Statement guard;
      guard.kind = Kind::branch;
      guard.condition = expressions_.condition(false);
      guard.first.push_back(statement);
      statement = guard;
    }
    all.push_back(statement);
  }
  return all;
}

}  // namespace sluice::nests
