// What isl reads of a block that has grown is what it was.
#include <array>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>
#include <isl/ctx.h>

namespace sluice {
namespace {

using Numbers = std::array<int, 6>;

TEST(IslBlocks, KeepTheirNumbersWhenTheyGrowBothHereAndThere) {
  isl_ctx* const context = isl_ctx_alloc();
  const Numbers numbers = {1, 2, 3, 4, 5, 6};
  void* const block = isl_malloc_or_die(context, sizeof(Numbers));
  std::memcpy(block, numbers.data(), sizeof(Numbers));
  void* const larger = isl_realloc_or_die(context, block, 2 * sizeof(Numbers));
  ASSERT_NE(larger, block);
  EXPECT_EQ(std::memcmp(larger, numbers.data(), sizeof(Numbers)), 0);
  // Whatever is allocated next is not the former block.
  for (int i = 0; i < 8; ++i) {
    void* const another = isl_malloc_or_die(context, sizeof(Numbers));
    std::memset(another, 0, sizeof(Numbers));
    EXPECT_NE(another, block);
    std::free(another);
  }
  EXPECT_EQ(std::memcmp(block, numbers.data(), sizeof(Numbers)), 0);
  std::free(larger);
  isl_ctx_free(context);
}

TEST(IslBlocks, CanBeMadeByGrowth) {
  isl_ctx* const context = isl_ctx_alloc();
  void* block = nullptr;
  for (size_t bytes = 1; bytes < 10'000; bytes *= 3) {
    block = isl_realloc_or_die(context, block, bytes);
    ASSERT_NE(block, nullptr);
    std::memset(block, 7, bytes);
  }
  std::free(block);
  isl_ctx_free(context);
}

}  // namespace
}  // namespace sluice
