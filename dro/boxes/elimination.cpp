#include "dro/boxes/elimination.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/number/floor_divide.hpp"
#include "dro/boxes/form_bounds.hpp"

namespace sluice::dro {
namespace {

// More constraints are not worth going through.
constexpr size_t most_forms = 48;

int64_t common_divisor(const IntegerForm& form) {
  int64_t common = 0;
  for (const int64_t term : form.terms)
    common = std::gcd(common, term);
  return common;
}

// least_value() is the smallest that a form, if it is not negative, may be.
int64_t least_value(const IntegerForm& form) {
  const int64_t common = common_divisor(form);
  if (common == 0) return form.constant;
  return form.constant - floor_divide(form.constant, common) * common;
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
  return sum;
}

// has_value_between() is whether whole numbers lie between both bounds wherever the sum of these is
// not negative.
bool has_value_between(size_t variable, const IntegerForm& lower, const IntegerForm& upper,
                       const IntegerForm& sum) {
  const bool is_never = common_divisor(sum) == 0 && sum.constant < 0;
  int64_t needed = 0;
  return is_never || (add_product(needed, lower.terms[variable] - 1, -upper.terms[variable] - 1) &&
                      least_value(sum) >= needed);
}

// OwnBounds are what constraints of one variable each say of it.
class OwnBounds {
 public:
  explicit OwnBounds(const std::vector<IntegerForm>& forms) {
    for (const IntegerForm& form : forms) {
      const auto is_used = [](int64_t term) { return term != 0; };
      const auto own = std::ranges::find_if(form.terms, is_used);
      if (own == form.terms.end() || std::ranges::count_if(form.terms, is_used) > 1) continue;
      Bounds& bounds = of_[static_cast<size_t>(own - form.terms.begin())];
      if (*own > 0) {
        const int64_t low = -floor_divide(form.constant, *own);
        bounds.low = std::max(bounds.low.value_or(low), low);
      } else {
        const int64_t high = floor_divide(form.constant, -*own);
        bounds.high = std::min(bounds.high.value_or(high), high);
      }
    }
  }

  // implies() is whether `form` is never smaller than `other`.
  bool implies(const IntegerForm& form, const IntegerForm& other) const {
    int64_t least = form.constant - other.constant;
    for (size_t v = 0; v < form.terms.size(); ++v) {
      const int64_t term = form.terms[v] - other.terms[v];
      if (term == 0) continue;
      const std::optional<int64_t>& end = term > 0 ? of_[v].low : of_[v].high;
      if (!end || !add_product(least, term, *end)) return false;
    }
    return least >= 0;
  }

 private:
  struct Bounds {
    std::optional<int64_t> low, high;
  };
  std::array<Bounds, IntegerForm::most_variables> of_;
};

// remove_implied() leaves out constraints that others, and the bounds of single variables, imply.
void remove_implied(std::vector<IntegerForm>& forms) {
  const OwnBounds bounds(forms);
  for (size_t i = forms.size(); i-- > 0;) {
    const auto terms =
        std::ranges::count_if(forms[i].terms, [](int64_t term) { return term != 0; });
    if (terms < 2) continue;  // a bound of its own
    const auto is_told = [&](const IntegerForm& other) {
      return &other != &forms[i] && bounds.implies(forms[i], other);
    };
    if (std::ranges::any_of(forms, is_told))
      forms.erase(forms.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

IntegerForm tightened(IntegerForm form) {
  const int64_t common = common_divisor(form);
  if (common <= 1) return form;
  for (int64_t& term : form.terms)
    term /= common;
  form.constant = floor_divide(form.constant, common);
  return form;
}

void add_tightest(std::vector<IntegerForm>& forms, const IntegerForm& form) {
  const auto same = std::ranges::find(forms, form.terms, &IntegerForm::terms);
  if (same == forms.end()) {
    forms.push_back(form);
  } else {
    same->constant = std::min(same->constant, form.constant);
  }
}

std::optional<std::vector<IntegerForm>> without(const std::vector<IntegerForm>& forms,
                                                size_t variable, bool exactly) {
  std::vector<IntegerForm> left;
  for (const IntegerForm& lower : forms) {
    if (lower.terms[variable] == 0) add_tightest(left, lower);
    if (lower.terms[variable] <= 0) continue;
    for (const IntegerForm& upper : forms) {
      if (upper.terms[variable] >= 0) continue;
      const auto sum = sum_without(variable, lower, upper);
      if (!sum || (exactly && !has_value_between(variable, lower, upper, *sum)))
        return std::nullopt;
      add_tightest(left, tightened(*sum));
    }
  }
  return left;
}

size_t eliminate_exactly(std::vector<IntegerForm>& forms, size_t variables, Budget& budget) {
  std::vector<IntegerForm> left;
  for (const IntegerForm& form : forms)
    add_tightest(left, tightened(form));
  size_t gone = 0;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (size_t v = IntegerForm::first_existential; v < variables; ++v) {
      const auto used = [v](const IntegerForm& form) { return form.terms[v] != 0; };
      if (std::ranges::none_of(left, used)) continue;
      if (left.size() > most_forms || !budget.take(left.size() * left.size())) return gone;
      remove_implied(left);
      auto next = without(left, v, true);
      if (!next) continue;
      forms = left = std::move(*next);
      goes_on = true;
      ++gone;
    }
  }
  return gone;
}

}  // namespace sluice::dro
