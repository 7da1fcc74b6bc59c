#include "dro/strides/thread_numbers.hpp"

#include <algorithm>
#include <utility>

#include "base/number/floor_divide.hpp"
#include "dro/boxes/elimination.hpp"
#include "dro/boxes/form_bounds.hpp"
#include "dro/strides/integer_loops.hpp"

namespace sluice::dro {
namespace {

size_t terms_of(const IntegerForm& form) {
  return form.terms.size() - static_cast<size_t>(std::ranges::count(form.terms, int64_t{0}));
}

// blocks_told() is how many threads a block may have if the variable is the thread's place in it:
// as many as that has values, or as often as x stands beside it.
std::vector<int64_t> blocks_told(const std::vector<IntegerForm>& forms, size_t variable) {
  std::vector<int64_t> told;
  std::optional<int64_t> first, last;
  for (const IntegerForm& form : forms) {
    const int64_t own = form.terms[variable], of_x = form.terms[IntegerForm::x];
    if (own == 0) continue;
    if (own == 1 && terms_of(form) == 1) first = -form.constant;
    if (own == -1 && terms_of(form) == 1) last = form.constant;
    const bool is_new = std::ranges::find(told, of_x / own) == told.end();
    if (of_x / own > 0 && of_x % own == 0 && is_new) told.push_back(of_x / own);
  }
  if (first && last && *last > *first) told.insert(told.begin(), *last - *first + 1);
  return told;
}

// with_numbers() puts t - block * x in the place of the variable e of threads within a block;
// nothing where numbers grow too large.
std::optional<std::vector<IntegerForm>> with_numbers(std::vector<IntegerForm> forms,
                                                     size_t variable, int64_t block) {
  for (IntegerForm& form : forms) {
    if (!add_product(form.terms[IntegerForm::x], form.terms[variable], -block)) return std::nullopt;
  }
  return forms;
}

// with_whole_quotients() counts quotients through all blocks, where isl counts them from a block's
// first thread: t / 2 as 128 x + e / 2, where t is 256 x + e. It is a change of variables that can
// be undone, whether it helps or not. False where numbers grow too large.
bool with_whole_quotients(std::vector<IntegerForm>& forms, size_t number, size_t variables) {
  for (size_t v = IntegerForm::byte + 1; v < variables; ++v) {
    const auto tells = [&](const IntegerForm& form) {
      return v != number && form.terms[v] != 0 && form.terms[IntegerForm::x] != 0 &&
             form.terms[IntegerForm::byte] == 0 && form.terms[IntegerForm::x] % form.terms[v] == 0;
    };
    const auto found = std::ranges::find_if(forms, tells);
    if (found == forms.end()) continue;
    const int64_t ratio = found->terms[IntegerForm::x] / found->terms[v];
    for (IntegerForm& form : forms) {
      if (!add_product(form.terms[IntegerForm::x], form.terms[v], -ratio)) return false;
    }
  }
  return true;
}

// read() takes constraints apart by what they say of x.
std::optional<ThreadNumbers> read(const std::vector<IntegerForm>& constraints, size_t variable) {
  ThreadNumbers numbers{.variable = variable, .block = 0, .forms = {}, .tiles = {}};
  std::optional<int64_t> first, last, lowest, highest;
  for (const IntegerForm& constraint : constraints) {
    const IntegerForm form = tightened(constraint);
    const int64_t own = form.terms[variable], of_x = form.terms[IntegerForm::x];
    if (of_x == 0) {
      numbers.forms.push_back(form);
      continue;
    }
    if (terms_of(form) == 1) {
      // By tightening, the term is 1 or -1.
      if (of_x > 0) lowest = std::max(lowest.value_or(-form.constant), -form.constant);
      if (of_x < 0) highest = std::min(highest.value_or(form.constant), form.constant);
      continue;
    }
    if (terms_of(form) != 2 || (own != 1 && own != -1) || of_x * own > 0) return std::nullopt;
    const int64_t block = std::abs(of_x);
    if (numbers.block != 0 && numbers.block != block) return std::nullopt;
    numbers.block = block;
    if (own > 0) first = std::max(first.value_or(-form.constant), -form.constant);
    if (own < 0) last = std::min(last.value_or(form.constant), form.constant);
    numbers.tiles.push_back(form);
  }
  if (!first || !last || *last - *first + 1 > numbers.block) return std::nullopt;
  numbers.first = *first;
  numbers.last = *last;
  // All blocks together have these values. Where x has no bound of its own, others tell it.
  const auto add_bound = [&](int64_t sign, const std::optional<int64_t>& x, int64_t end) {
    if (!x) return true;
    IntegerForm bound;
    bound.terms[variable] = sign;
    bound.constant = -sign * end;
    numbers.forms.push_back(bound);
    return add_product(numbers.forms.back().constant, *x, -sign * numbers.block);
  };
  if (!add_bound(1, lowest, *first) || !add_bound(-1, highest, *last)) return std::nullopt;
  return numbers;
}

}  // namespace

std::optional<ThreadNumbers> thread_numbers(const std::vector<IntegerForm>& constraints,
                                            size_t variables) {
  for (size_t variable = IntegerForm::byte + 1; variable < variables; ++variable) {
    if (auto numbers = read(constraints, variable)) return numbers;
    for (const int64_t block : blocks_told(constraints, variable)) {
      auto numbered = with_numbers(constraints, variable, block);
      if (!numbered || !with_whole_quotients(*numbered, variable, variables)) continue;
      if (auto numbers = read(*numbered, variable)) return numbers;
    }
  }
  return read(constraints, IntegerForm::byte);
}

}  // namespace sluice::dro
