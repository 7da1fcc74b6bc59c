#include "dro/boxes/form_bounds.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/number/floor_divide.hpp"

namespace sluice::dro {
namespace {

constexpr int64_t largest_number = int64_t{1} << 60;

}  // namespace

bool add_product(int64_t& sum, int64_t factor, int64_t times) {
  int64_t product = 0;
  return !__builtin_mul_overflow(factor, times, &product) &&
         !__builtin_add_overflow(sum, product, &sum) && std::abs(sum) < largest_number;
}

size_t FormBounds::top(const IntegerForm& form) const {
  size_t place = by_stride.size();
  while (place > 0 && form.terms[by_stride[place - 1]] == 0)
    --place;
  return place;
}

void FormBounds::split(const IntegerForm& form, int64_t divisor, IntegerForm& outer,
                       IntegerForm& rest) {
  for (size_t v = 0; v < form.terms.size(); ++v)
    (form.terms[v] % divisor == 0 ? outer : rest).terms[v] = form.terms[v];
}

std::optional<Interval> FormBounds::bounds(const IntegerForm& form, size_t below) const {
  if (std::all_of(form.terms.begin(), form.terms.end(), [](int64_t term) { return term == 0; })) {
    return Interval{0, 0};
  }
  if (const auto told = told_bounds(form, below)) return told;
  const size_t level = top(form);
  if (level == 0) return std::nullopt;
  IntegerForm outer, rest;
  split(form, std::abs(form.terms[by_stride[level - 1]]), outer, rest);
  if (rest.terms == IntegerForm().terms) return std::nullopt;
  const auto a = told_bounds(outer, below), b = bounds(rest, level);
  if (!a || !b) return std::nullopt;
  return Interval{a->first + b->first, a->last + b->last};
}

// told_bounds() looks for constraints that are multiples of the form.
std::optional<Interval> FormBounds::told_bounds(const IntegerForm& form, size_t below) const {
  const size_t lead = static_cast<size_t>(
      std::find_if(form.terms.begin(), form.terms.end(), [](int64_t term) { return term != 0; }) -
      form.terms.begin());
  std::optional<int64_t> low, high;
  for (const IntegerForm& source : sources) {
    if (source.terms[lead] == 0 || top(source) >= below) continue;
    bool same = true;
    for (size_t v = 0; v < form.terms.size() && same; ++v) {
      same = static_cast<__int128>(source.terms[v]) * form.terms[lead] ==
             static_cast<__int128>(form.terms[v]) * source.terms[lead];
    }
    if (!same) continue;
    // source.terms is form * (a / b), so form >= -constant * b / a where a / b > 0, else <=.
    int64_t a = source.terms[lead], b = form.terms[lead], edge = 0;
    if (b < 0) a = -a, b = -b;
    if (!add_product(edge, -source.constant, b)) return std::nullopt;
    if (a > 0) {
      const int64_t least = -floor_divide(-edge, a);
      low = std::max(low.value_or(least), least);
    } else {
      const int64_t most = floor_divide(edge, a);
      high = std::min(high.value_or(most), most);
    }
  }
  if (!low || !high) return std::nullopt;
  return Interval{*low, *high};
}

}  // namespace sluice::dro
