#include "loop_bounds.hpp"

#include <algorithm>
#include <utility>

namespace sluice::nests {

int64_t Bounds::rounds() const {
  const int64_t way = down ? start.high - bound.low : bound.high - start.low;
  return std::max<int64_t>(way, 0) / std::max<int64_t>(down ? -step.high : step.low, 1) + 1;
}

Variable Bounds::counter(const Statement& loop, bool uniform) const {
  Variable variable{loop.variable, start.low, start.high, uniform, start.owned};
  if (down)
    variable.low = std::min(variable.low, bound.low + 1);
  else
    variable.high = std::max(variable.high, bound.high - 1);
  if (loop.form != Statement::Form::at_least_once) {
    if (down)
      variable.low = std::max(variable.low, bound.low + 1);
    else
      variable.high = std::min(variable.high, bound.high - 1);
  }
  variable.high = std::max(variable.low, variable.high);
  return variable;
}

Variable Bounds::after(const Variable& counter) const {
  Variable after = counter;
  after.low = std::min(start.low, counter.low + std::min<int64_t>(step.low, 0));
  after.high = std::max(start.high, counter.high + std::max<int64_t>(step.high, 0));
  return after;
}

Bounds strided(const Nest& nest, Expressions& expressions, Dice& dice, bool inside_others) {
  const Op stride = dice.chance(60) ? Op::all : Op::threads;
  Bounds bounds;
  bounds.start = expressions.leaf(dice.one_of({Op::global, Op::global, Op::thread}));
  const std::vector<Variable>& scope = expressions.scope();
  if (inside_others && dice.chance(60)) {
    for (const Variable& variable : scope) {
      if (variable.low >= 0 && variable.high < elements) {
        bounds.start = Expressions::variable(variable);
      }
    }
  }
  bounds.step = expressions.leaf(stride);
  const auto width = uint32_t(dice.between(1, 3));
  if (dice.chance(40) && nest.scalars[width] > 0) bounds.step = expressions.scalar(width);
  bounds.bound = dice.chance(70) ? expressions.scalar(uint32_t(dice.between(2, 3)))
                                 : expressions.any(false, 1);
  if (bounds.bound.high > elements) bounds.bound = expressions.scalar(2);
  const bool keeps =
      bounds.step.low == bounds.step.high && bounds.step.low % expressions.all_threads() == 0;
  bounds.start.owned = bounds.start.owned && keeps;
  return bounds;
}

Bounds counted(Expressions& expressions, Dice& dice, bool uniform, int64_t most) {
  Bounds bounds;
  bounds.start = expressions.constant(dice.between(0, 2));
  bounds.bound = expressions.small(uniform, std::min<int64_t>(most, 12));
  bounds.step = expressions.constant(dice.one_of<int64_t>({1, 1, 1, 2, 3}));
  bounds.down = dice.chance(20);
  if (bounds.down) {
    std::swap(bounds.start, bounds.bound);
    bounds.step = expressions.constant(-bounds.step.low);
  } else if (dice.chance(30)) {
    bounds.start = expressions.small(uniform, 3);
  }
  bounds.start.owned = false;  // what follows it belongs to other threads
  return bounds;
}

}  // namespace sluice::nests
