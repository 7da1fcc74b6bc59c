#include "dro/strides/integer_loops.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/number/floor_divide.hpp"
#include "dro/boxes/elimination.hpp"
#include "dro/boxes/form_bounds.hpp"

namespace sluice::dro {
namespace {

constexpr size_t most_forms = 96;
constexpr uint64_t forms_a_step = 8;

// value_of() is a form without its own variable.
int64_t value_of(const IntegerForm& form, size_t without, const IntegerLoops::Values& values,
                 bool& good) {
  int64_t sum = form.constant;
  for (size_t v = 0; v < values.size(); ++v) {
    if (v != without && form.terms[v] != 0)
      good = add_product(sum, form.terms[v], values[v]) && good;
  }
  return sum;
}

}  // namespace

std::optional<IntegerLoops> IntegerLoops::make(const std::vector<IntegerForm>& constraints,
                                               std::span<const size_t> variables, Budget& budget) {
  IntegerLoops made;
  std::vector<IntegerForm> left;
  for (const IntegerForm& form : constraints)
    add_tightest(left, tightened(form));
  for (size_t depth = variables.size(); depth-- > 0;) {
    const size_t variable = variables[depth];
    Loop loop{variable, {}};
    std::ranges::copy_if(left, std::back_inserter(loop.bounds),
                         [&](const IntegerForm& form) { return form.terms[variable] != 0; });
    const auto lowers = std::ranges::count_if(
        loop.bounds, [&](const IntegerForm& form) { return form.terms[variable] > 0; });
    const auto uppers = static_cast<std::ptrdiff_t>(loop.bounds.size()) - lowers;
    if (lowers == 0 || uppers == 0) return std::nullopt;
    if (!budget.take(static_cast<uint64_t>(lowers * uppers) + left.size())) return std::nullopt;
    auto next = without(left, variable, false);
    if (!next || next->size() > most_forms) return std::nullopt;
    made.loops_.insert(made.loops_.begin(), std::move(loop));
    left = std::move(*next);
  }
  for (const IntegerForm& form : left) {
    if (form.terms != IntegerForm().terms) return std::nullopt;
    made.is_empty_ = made.is_empty_ || form.constant < 0;
  }
  return made;
}

bool IntegerLoops::run(Budget& budget, const Visit& visit) const {
  Values values = {};
  return is_empty_ || loops_.empty() || run_from(0, values, budget, visit);
}

bool IntegerLoops::run_from(size_t depth, Values& values, Budget& budget,
                            const Visit& visit) const {
  const Loop& loop = loops_[depth];
  if (!budget.take(1 + loop.bounds.size() / forms_a_step)) return false;
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  bool good = true;
  for (const IntegerForm& form : loop.bounds) {
    const int64_t own = form.terms[loop.variable];
    const int64_t rest = value_of(form, loop.variable, values, good);
    if (own > 0) {
      low = std::max(low, -floor_divide(rest, own));
    } else {
      high = std::min(high, floor_divide(rest, -own));
    }
  }
  if (!good) return false;
  if (low > high) return true;
  values[loop.variable] = low;
  if (depth + 1 == loops_.size()) return visit(values, high);
  for (; values[loop.variable] <= high; ++values[loop.variable]) {
    if (!run_from(depth + 1, values, budget, visit)) return false;
  }
  values[loop.variable] = 0;
  return true;
}

}  // namespace sluice::dro
