#include "dro/strides/integer_loops.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/floor_divide.hpp"
#include "dro/boxes/form_bounds.hpp"

namespace sluice::dro {
namespace {

constexpr size_t most_forms = 96;
constexpr uint64_t forms_a_step = 8;

// add_tightest() adds a constraint unless another with the same terms says as much.
void add_tightest(std::vector<IntegerForm>& forms, const IntegerForm& form) {
  const auto same = std::ranges::find(forms, form.terms, &IntegerForm::terms);
  if (same == forms.end()) {
    forms.push_back(form);
  } else {
    same->constant = std::min(same->constant, form.constant);
  }
}

// sum_without() adds multiples of a lower and an upper bound of a variable, which is then gone;
// nothing where numbers grow too large.
std::optional<IntegerForm> sum_without(size_t variable, const IntegerForm& lower,
                                       const IntegerForm& upper) {
  const int64_t of_lower = -upper.terms[variable], of_upper = lower.terms[variable];
  IntegerForm sum;
  bool good = add_product(sum.constant, lower.constant, of_lower) &&
              add_product(sum.constant, upper.constant, of_upper);
  for (size_t v = 0; v < sum.terms.size() && good; ++v) {
    good = add_product(sum.terms[v], lower.terms[v], of_lower) &&
           add_product(sum.terms[v], upper.terms[v], of_upper);
  }
  if (!good) return std::nullopt;
  return tightened(sum);
}

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

IntegerForm tightened(IntegerForm form) {
  int64_t common = 0;
  for (const int64_t term : form.terms)
    common = std::gcd(common, term);
  if (common <= 1) return form;
  for (int64_t& term : form.terms)
    term /= common;
  form.constant = floor_divide(form.constant, common);
  return form;
}

std::optional<IntegerLoops> IntegerLoops::make(const std::vector<IntegerForm>& constraints,
                                               std::span<const size_t> variables, Budget& budget) {
  IntegerLoops made;
  std::vector<IntegerForm> left;
  for (const IntegerForm& form : constraints)
    add_tightest(left, tightened(form));
  for (size_t depth = variables.size(); depth-- > 0;) {
    const size_t variable = variables[depth];
    Loop loop{variable, {}};
    std::vector<IntegerForm> next;
    for (const IntegerForm& form : left) {
      if (form.terms[variable] == 0) {
        add_tightest(next, form);
      } else {
        loop.bounds.push_back(form);
      }
    }
    const auto lowers = std::ranges::count_if(
        loop.bounds, [&](const IntegerForm& form) { return form.terms[variable] > 0; });
    const auto uppers = static_cast<std::ptrdiff_t>(loop.bounds.size()) - lowers;
    if (lowers == 0 || uppers == 0) return std::nullopt;
    if (!budget.take(static_cast<uint64_t>(lowers * uppers) + left.size())) return std::nullopt;
    for (const IntegerForm& lower : loop.bounds) {
      if (lower.terms[variable] < 0) continue;
      for (const IntegerForm& upper : loop.bounds) {
        if (upper.terms[variable] > 0) continue;
        const auto sum = sum_without(variable, lower, upper);
        if (!sum) return std::nullopt;
        add_tightest(next, *sum);
      }
    }
    if (next.size() > most_forms) return std::nullopt;
    made.loops_.insert(made.loops_.begin(), std::move(loop));
    left = std::move(next);
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
