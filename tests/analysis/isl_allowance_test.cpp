// Work that asks too much of isl is given up, and later work is not touched by it.
#include "analysis/isl_allowance.hpp"

#include <memory>

#include <gtest/gtest.h>
#include <isl/ctx.h>
#include <isl/set.h>
#include <isl/val.h>

namespace sluice::analysis {
namespace {

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
  EXPECT_TRUE(run_within(100'000, [&] { is_ten = counts_to_ten(); }));
  EXPECT_TRUE(is_ten);
}

TEST(IslAllowance, GivesUpWorkThatDoesNotEnd) {
  bool has_ended = false;
  EXPECT_FALSE(run_within(10'000, [&] {
    while (counts_to_ten()) {
    }
    has_ended = true;
  }));
  EXPECT_FALSE(has_ended);
  EXPECT_TRUE(counts_to_ten());
  EXPECT_TRUE(run_within(100'000, [] { EXPECT_TRUE(counts_to_ten()); }));
}

TEST(IslAllowance, GivesUpWorkThatMeetsAnError) {
  bool has_ended = false;
  EXPECT_FALSE(run_within(100'000, [&] {
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
  EXPECT_TRUE(run_within(1, [] {}));
}

}  // namespace
}  // namespace sluice::analysis
