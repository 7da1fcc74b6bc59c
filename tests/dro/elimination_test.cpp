// Eliminated variables, against enumeration.
#include "dro/boxes/elimination.hpp"

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

namespace sluice::dro::testing {
namespace {

constexpr size_t variables = IntegerForm::first_existential + 3;
constexpr int64_t furthest = 3;  // of an existential variable from 0
constexpr size_t x = IntegerForm::x, byte = IntegerForm::byte;

int64_t value_of(const IntegerForm& form, const std::array<int64_t, variables>& values) {
  int64_t sum = form.constant;
  for (size_t v = 0; v < variables; ++v)
    sum += form.terms[v] * values[v];
  return sum;
}

// has_solution() tries all values of the existential variables from `v` on.
bool has_solution(const std::vector<IntegerForm>& forms, std::array<int64_t, variables> values,
                  size_t v = IntegerForm::first_existential) {
  if (v == variables) {
    return std::ranges::all_of(
        forms, [&](const IntegerForm& form) { return value_of(form, values) >= 0; });
  }
  for (values[v] = -furthest; values[v] <= furthest; ++values[v]) {
    if (has_solution(forms, values, v + 1)) return true;
  }
  return false;
}

// RandomForms are what an access may say: sums that lie between two numbers.
class RandomForms {
 public:
  explicit RandomForms(uint32_t seed) : random_(seed) {}

  std::vector<IntegerForm> make() {
    std::vector<IntegerForm> forms;
    for (size_t v = IntegerForm::first_existential; v < variables; ++v) {
      IntegerForm own;
      own.terms[v] = 1;
      const int64_t first = number(-furthest, furthest - 1);
      add_between(forms, own, first, number(first, furthest));
    }
    const int64_t sums = number(1, 3);
    for (int64_t i = 0; i < sums; ++i) {
      IntegerForm sum;
      sum.terms[byte] = number(0, 3) != 0 ? 1 : 0;
      sum.terms[x] = number(0, 3) == 0 ? number(-4, 4) : 0;
      for (size_t v = IntegerForm::first_existential; v < variables; ++v)
        sum.terms[v] = number(0, 2) != 0 ? strides[static_cast<size_t>(number(0, 5))] : 0;
      const int64_t first = number(-8, 8);
      add_between(forms, sum, first, first + number(0, 9));
    }
    return forms;
  }

 private:
  static constexpr int64_t strides[] = {-1, -2, -4, -8, 1, 3};

  int64_t number(int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(random_);
  }
  static void add_between(std::vector<IntegerForm>& forms, IntegerForm form, int64_t first,
                          int64_t last) {
    form.constant = -first;
    forms.push_back(form);
    for (int64_t& term : form.terms)
      term = -term;
    form.constant = last;
    forms.push_back(form);
  }

  std::mt19937 random_;
};

TEST(Elimination, LeavesTheSolutionsOfRandomConstraints) {
  size_t gone = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    const std::vector<IntegerForm> forms = RandomForms(seed).make();
    std::vector<IntegerForm> fewer = forms;
    Budget budget(Budget::unlimited);
    const size_t found = eliminate_exactly(fewer, variables, budget);
    gone += found;
    if (found == 0) continue;
    std::array<int64_t, variables> values = {};
    for (values[x] = 0; values[x] < 2; ++values[x]) {
      for (values[byte] = -15; values[byte] <= 15; ++values[byte])
        ASSERT_EQ(has_solution(forms, values), has_solution(fewer, values))
            << seed << ": x " << values[x] << ", byte " << values[byte];
    }
  }
  EXPECT_GT(gone, 300U);
}

TEST(Elimination, StopsPastTheBudget) {
  std::vector<IntegerForm> forms = RandomForms(1).make();
  Budget none({1, 1});
  EXPECT_EQ(eliminate_exactly(forms, variables, none), 0U);
}

}  // namespace
}  // namespace sluice::dro::testing
