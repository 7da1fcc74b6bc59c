#include "hostcuda/driver/stream/block_pool.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::hostcuda {
namespace {

// The block function gets at its test through the parameter block.
struct Parameters {
  std::vector<std::atomic<int>>* runs;
  std::atomic<uint64_t>* misaligned;
};

void count_blocks(const SluiceBlockLaunch* launch, uint32_t first, uint32_t count, void* scratch) {
  const auto* parameters = static_cast<const Parameters*>(launch->parameters);
  if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0) ++*parameters->misaligned;
  std::memset(scratch, 0xab, 4096);
  for (uint32_t block = first; block < first + count; ++block)
    ++(*parameters->runs)[block];
}

// The pool's threads never end, so the pools of these tests don't either.
BlockPool& pool_of(unsigned workers) {
  return *new BlockPool(workers);
}

void run_and_check(BlockPool& pool, size_t blocks, std::atomic<uint32_t>& nanoseconds) {
  std::vector<std::atomic<int>> runs(blocks);
  std::atomic<uint64_t> misaligned{0};
  const Parameters parameters{&runs, &misaligned};
  const SluiceBlockLaunch launch{&parameters, {static_cast<uint32_t>(blocks), 1, 1}, 0};
  ASSERT_TRUE(pool.run({count_blocks, 4096}, launch, blocks, nanoseconds));
  for (const std::atomic<int>& count : runs)
    ASSERT_EQ(count.load(), 1);
  EXPECT_EQ(misaligned.load(), 0u);
}

class BlockPoolTest : public testing::TestWithParam<unsigned> {};

TEST_P(BlockPoolTest, RunsEveryBlockOnce) {
  BlockPool& pool = pool_of(GetParam());
  for (const size_t blocks : {1, 2, 3, 7, 64, 1000, 100000}) {
    std::atomic<uint32_t> nanoseconds{0};
    run_and_check(pool, blocks, nanoseconds);
  }
}

TEST_P(BlockPoolTest, RunsManySmallLaunchesInARow) {
  BlockPool& pool = pool_of(GetParam());
  std::atomic<uint32_t> nanoseconds{0};
  for (int i = 0; i < 2000; ++i) {
    // Every other launch is taken for a long one, so that helpers join.
    if (i % 2 == 0) nanoseconds.store(1'000'000);
    run_and_check(pool, 8, nanoseconds);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, BlockPoolTest, testing::Values(1, 2, 5));

TEST(BlockPool, MeasuresBlocks) {
  BlockPool& pool = pool_of(1);
  std::atomic<uint32_t> nanoseconds{0};
  run_and_check(pool, 10, nanoseconds);
  EXPECT_GT(nanoseconds.load(), 0u);
}

TEST(BlockPool, SaysWhenThereIsNoMemoryForScratch) {
  BlockPool& pool = pool_of(2);
  std::vector<std::atomic<int>> runs(4);
  std::atomic<uint64_t> misaligned{0};
  const Parameters parameters{&runs, &misaligned};
  const SluiceBlockLaunch launch{&parameters, {4, 1, 1}, 0};
  std::atomic<uint32_t> nanoseconds{0};
  EXPECT_FALSE(pool.run({count_blocks, uint64_t{1} << 60}, launch, 4, nanoseconds));
  for (const std::atomic<int>& count : runs)
    EXPECT_EQ(count.load(), 0);
}

}  // namespace
}  // namespace sluice::hostcuda
