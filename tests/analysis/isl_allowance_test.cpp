// Work that asks too much of isl is given up, and later work is not touched by it.
#include "analysis/rewrite/isl_allowance.hpp"

#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <isl/ctx.h>
#include <isl/set.h>
#include <isl/val.h>

namespace sluice::analysis {
namespace {

constexpr IslAllowance plenty = {.allocations = 100'000, .numbers = 1'000'000};

bool counts_to_ten() {
  const std::unique_ptr<isl_ctx, decltype(&isl_ctx_free)> context(isl_ctx_alloc(), isl_ctx_free);
  isl_set* const numbers = isl_set_read_from_str(context.get(), "{ [i] : 0 <= i < 10 }");
  isl_val* const count = isl_set_count_val(numbers);
  const bool is_ten = isl_val_get_num_si(count) == 10;
  isl_val_free(count);
  isl_set_free(numbers);
  return is_ten;
}

TEST(IslAllowance, LetsWorkEndThatStaysWithin) {
  bool is_ten = false;
  EXPECT_TRUE(run_within(plenty, [&] { is_ten = counts_to_ten(); }));
  EXPECT_TRUE(is_ten);
}

TEST(IslAllowance, GivesUpWorkThatDoesNotEnd) {
  bool has_ended = false;
  EXPECT_FALSE(run_within({.allocations = 10'000, .numbers = 1'000'000'000}, [&] {
    while (counts_to_ten()) {
    }
    has_ended = true;
  }));
  EXPECT_FALSE(has_ended);
  EXPECT_TRUE(counts_to_ten());
  EXPECT_TRUE(run_within(plenty, [] { EXPECT_TRUE(counts_to_ten()); }));
}

// A simplex of many unknowns: a few hundred objects, whose rows are long.
bool is_wide_system_feasible() {
  constexpr int unknowns = 16;
  const std::unique_ptr<isl_ctx, decltype(&isl_ctx_free)> context(isl_ctx_alloc(), isl_ctx_free);
  std::string names, constraints;
  for (int i = 0; i < unknowns; ++i) {
    const int other = (7 * i + 1) % unknowns, third = (11 * i + 5) % unknowns;
    names += fmt::format("{}i{}", i == 0 ? "" : ", ", i);
    constraints += fmt::format("{}3i{} + 5i{} - 7i{} >= {} and i{} <= 1000", i == 0 ? "" : " and ",
                               i, other, third, i, i);
  }
  isl_set* const set = isl_set_read_from_str(
      context.get(), fmt::format("{{ [{}] : {} }}", names, constraints).c_str());
  const bool is_feasible = isl_set_is_empty(set) == isl_bool_false;
  isl_set_free(set);
  return is_feasible;
}

TEST(IslAllowance, GivesUpWorkOnLongRows) {
  EXPECT_FALSE(
      run_within({.allocations = 100'000, .numbers = 20'000}, [] { is_wide_system_feasible(); }));
  // It is the rows that end it.
  EXPECT_TRUE(run_within({.allocations = 100'000, .numbers = 1'000'000'000},
                         [] { is_wide_system_feasible(); }));
}

TEST(IslAllowance, GivesUpWorkThatMeetsAnError) {
  bool has_ended = false;
  EXPECT_FALSE(run_within(plenty, [&] {
    isl_ctx* const context = isl_ctx_alloc();
    isl_set_free(isl_set_intersect(isl_set_read_from_str(context, "{ [i] }"),
                                   isl_set_read_from_str(context, "{ [i, j] }")));
    has_ended = true;
  }));
  EXPECT_FALSE(has_ended);
}

TEST(IslAllowance, CountsOnlyWhatIsAskedWithin) {
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(counts_to_ten());
  EXPECT_TRUE(run_within({}, [] {}));
}

}  // namespace
}  // namespace sluice::analysis
