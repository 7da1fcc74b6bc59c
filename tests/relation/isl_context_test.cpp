// What isl is asked for ends, however hard the relation.
#include "relation/isl_context.hpp"

#include <gtest/gtest.h>
#include <isl/ctx.h>
#include <isl/set.h>

namespace sluice {
namespace {

// The reads of a stencil of seven points on 7 x 6 x 5 floats, blocks of 4 x 2 x 3 threads. Whether
// its bytes in fewer pieces are still the same takes isl minutes to tell.
const char* const stencil_reads =
    "{ B[x, y, z] -> A[o] : o >= -292 + 16x + 56y + 504z and -124 + 16x + 56y <= o <= 715 + "
    "16x + 56y and o <= 547 + 16x + 56y + 504z and ((o >= 44 + 16x + 56y + 504z and o >= 212 "
    "+ 16x + 56y and 28*floor((12 + 12x + o)/28) >= -23 + 28x + o and 28*floor((12 + 12x + "
    "o)/28) <= 12x + o and 28*floor((12 + 12x + o)/28) <= -4 + 28x + o and 168*floor((-44 - "
    "16x - 56y + o)/168) >= -295 - 16x + o and 168*floor((-44 - 16x - 56y + o)/168) <= -156 -"
    " 16x - 56y + o and 168*floor((-44 - 16x - 56y + o)/168) <= -184 - 16x + o) or (o >= -96 "
    "+ 16x + 56y + 504z and 72 + 16x + 56y <= o <= 575 + 16x + 56y and o <= 407 + 16x + 56y +"
    " 504z and 28*floor((12 + 12x + o)/28) >= -23 + 28x + o and 28*floor((12 + 12x + o)/28) "
    "<= 12x + o and 28*floor((12 + 12x + o)/28) <= -4 + 28x + o and 168*floor((-72 - 16x - "
    "56y + o)/168) >= -323 - 16x + o and 168*floor((-72 - 16x - 56y + o)/168) <= -184 - 16x -"
    " 56y + o and 168*floor((-72 - 16x - 56y + o)/168) <= -212 - 16x + o) or (o >= -152 + 16x"
    " + 56y + 504z and 16 + 16x + 56y <= o <= 519 + 16x + 56y and o <= 351 + 16x + 56y + 504z"
    " and 28*floor((12 + 12x + o)/28) >= -23 + 28x + o and 28*floor((12 + 12x + o)/28) <= 12x"
    " + o and 28*floor((12 + 12x + o)/28) <= -4 + 28x + o and 168*floor((-16 - 16x - 56y + "
    "o)/168) >= -267 - 16x + o and 168*floor((-16 - 16x - 56y + o)/168) <= -128 - 16x - 56y +"
    " o and 168*floor((-16 - 16x - 56y + o)/168) <= -156 - 16x + o) or (o <= 379 + 16x + 56y "
    "and o <= 211 + 16x + 56y + 504z and 28*floor((12 + 12x + o)/28) >= -23 + 28x + o and "
    "28*floor((12 + 12x + o)/28) <= 12x + o and 28*floor((12 + 12x + o)/28) <= -4 + 28x + o "
    "and 168*floor((-44 - 16x - 56y + o)/168) >= -295 - 16x + o and 168*floor((-44 - 16x - "
    "56y + o)/168) <= -156 - 16x - 56y + o and 168*floor((-44 - 16x - 56y + o)/168) <= -184 -"
    " 16x + o) or (x >= 0 and o >= -120 + 16x + 56y + 504z and 48 + 16x + 56y <= o <= 551 + "
    "16x + 56y and o <= 383 + 16x + 56y + 504z and 28*floor((8 + 12x + o)/28) >= -27 + 28x + "
    "o and 28*floor((8 + 12x + o)/28) <= 4 + 12x + o and 28*floor((8 + 12x + o)/28) <= 28x + "
    "o and 168*floor((-48 - 16x - 56y + o)/168) >= -299 - 16x + o and 168*floor((-48 - 16x - "
    "56y + o)/168) <= -160 - 16x - 56y + o and 168*floor((-48 - 16x - 56y + o)/168) <= -188 -"
    " 16x + o)) }";

TEST(Coalesced, LeavesThePiecesAsTheyAreWhereTidyingCostsTooMuch) {
  IslContext context;
  const isl::set bytes = isl::map(context.get(), stencil_reads).range();
  ASSERT_FALSE(bytes.is_null());
  const isl::set tidied = coalesced(bytes);
  ASSERT_FALSE(tidied.is_null());
  EXPECT_EQ(isl_set_n_basic_set(tidied.get()), isl_set_n_basic_set(bytes.get()));
  // What failed in between is forgotten.
  EXPECT_EQ(isl_ctx_last_error(context.get().get()), isl_error_none);
  EXPECT_EQ(isl_ctx_get_max_operations(context.get().get()), 0u);
}

TEST(Coalesced, JoinsPiecesThatAreOne) {
  IslContext context;
  const isl::set bytes(context.get(), "{ A[o] : 0 <= o < 8 or 8 <= o < 20 }");
  EXPECT_EQ(isl_set_n_basic_set(coalesced(bytes).get()), 1);
}

TEST(Coalesced, LeavesHalfOfABudgetThatStands) {
  IslContext context;
  const isl::set bytes = isl::map(context.get(), stencil_reads).range();
  const IslContext::Budget budget(context, 1000);
  static_cast<void>(coalesced(bytes));
  EXPECT_EQ(isl_ctx_get_max_operations(context.get().get()), 1000u);
  EXPECT_FALSE(budget.is_spent());
}

TEST(IslWork, ChargesWhatIslHasDone) {
  const IslContext context;
  Budget some(Budget::unlimited), more(Budget::unlimited);
  for (const auto& [budget, times] : {std::pair(&some, 4), std::pair(&more, 16)}) {
    const IslWork work(context, *budget);
    for (int i = 0; i < times; ++i)
      EXPECT_FALSE(yes(isl::map(context.get(), stencil_reads).range().is_empty()));
  }
  EXPECT_GT(some.taken().steps, 100 * IslWork::steps_of_operation);
  EXPECT_GT(more.taken().steps, 3 * some.taken().steps);
  EXPECT_LT(more.taken().steps, 5 * some.taken().steps);
}

TEST(IslWork, TakesNoMoreThanIsLeft) {
  const IslContext context;
  Budget budget({1000, UINT64_MAX});
  {
    const IslWork work(context, budget);
    EXPECT_TRUE(isl::map(context.get(), stencil_reads).range().is_empty().is_error());
    EXPECT_TRUE(work.has_failed());
  }
  EXPECT_TRUE(budget.is_spent());
  EXPECT_EQ(budget.taken().steps, 1000u);
  EXPECT_FALSE(yes(isl::map(context.get(), stencil_reads).range().is_empty()));
}

TEST(IslBudget, IsSpentByAComputationThatAsksForMore) {
  IslContext context;
  const auto image_is_empty = [&context] {
    const isl::set bytes = isl::map(context.get(), stencil_reads).range();
    return yes(bytes.is_empty());
  };
  {
    const IslContext::Budget budget(context, 10);
    image_is_empty();
    EXPECT_TRUE(budget.is_spent());
  }
  const IslContext::Budget budget(context, 1'000'000);
  EXPECT_FALSE(image_is_empty());
  EXPECT_FALSE(budget.is_spent());
}

}  // namespace
}  // namespace sluice
