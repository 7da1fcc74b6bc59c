// Additions that collect before they go to memory are all there when the call has ended, and are
// seen earlier where CUDA says so.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

using testing::Each;
using testing::ElementsAre;

class JitReductions : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr uint32_t blocks = 23;
  static constexpr uint32_t block = 96;

  template <class... Arguments>
  void run(const char* kernel, const Arguments&... arguments) {
    kernels.run_on(GetParam(), kernel, {blocks}, {block}, 0, arguments...);
  }
  std::vector<int> numbers() const {
    std::vector<int> result(blocks * block);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = static_cast<int>(i * 7919 % 1000);
    return result;
  }

  Kernels kernels{"jit_reductions"};
  const std::vector<int> in = numbers();
};

TEST_P(JitReductions, AddToMoreAddressesThanCollect) {
  for (const int size : {1, 100, 999}) {
    // A page apart from each other's place, so that they put each other out.
    for (const int apart : {1, 1024}) {
      std::vector<int> at(in.size());
      for (size_t i = 0; i < in.size(); ++i)
        at[i] = in[i] % size * apart;
      std::vector<int> expected(static_cast<size_t>(size) * apart, 5);
      for (size_t i = 0; i < in.size(); ++i)
        expected[at[i]] += static_cast<int>(i);
      std::vector<int> bins(expected.size(), 5);
      run("scatter", at.data(), bins.data(), static_cast<int>(in.size()), size * apart);
      EXPECT_EQ(bins, expected);
    }
  }
}

template <class T>
std::vector<T> sums_of(const std::vector<int>& in, T unit) {
  std::vector<T> sums(3, 1);
  for (size_t i = 0; i < in.size(); ++i)
    sums[i % 3] += unit * static_cast<T>(in[i]);
  return sums;
}

TEST_P(JitReductions, AddNumbersOfAllTypes) {
  std::vector<float> floats(3, 1);
  run("add_floats", in.data(), floats.data());
  EXPECT_EQ(floats, sums_of(in, 0.25f));
  std::vector<double> doubles(3, 1);
  run("add_doubles", in.data(), doubles.data());
  EXPECT_EQ(doubles, sums_of(in, 0.25));
  std::vector<uint64_t> longs(3, 1);
  run("add_longs", in.data(), longs.data());
  EXPECT_EQ(longs, sums_of(in, uint64_t{1} << 33U));
}

TEST_P(JitReductions, AddToMoreAddressesOfTheLaunchThanCollect) {
  std::vector<int> sums(12, 4);
  run("add_to_twelve", in.data(), sums.data());
  const int expected = std::accumulate(in.begin(), in.end(), 4);
  for (int k = 0; k < 12; ++k)
    EXPECT_EQ(sums[k], expected + k * static_cast<int>(in.size())) << k;
}

TEST_P(JitReductions, AddNumbersOfTwoTypes) {
  int sum = 3;
  float quarter = 3;
  run("add_both", in.data(), &sum, &quarter);
  const int expected = std::accumulate(in.begin(), in.end(), 0);
  EXPECT_EQ(sum, 3 + expected);
  EXPECT_EQ(quarter, 3 + 0.25f * static_cast<float>(expected));
}

TEST_P(JitReductions, AreSeenByTheThreadThatAdds) {
  std::vector<int> memory(2 * in.size(), 10);
  std::vector<int> seen(in.size());
  run("sees_its_own", memory.data(), seen.data());
  std::vector<int> wanted(in.size());
  std::iota(wanted.begin(), wanted.end(), 10);
  EXPECT_EQ(seen, wanted);
}

TEST_P(JitReductions, LieUnderWhatTheThreadStoresThen) {
  std::vector<int> memory(in.size(), 10);
  run("stores_behind", memory.data());
  std::vector<int> wanted(in.size());
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(memory, wanted);
}

TEST_P(JitReductions, AreSeenByThreadsThatHaveMet) {
  std::vector<int> sums(blocks, 1);
  std::vector<int> seen(blocks);
  run("sees_its_block", sums.data(), seen.data());
  EXPECT_THAT(seen, Each(1 + 95 * 96 / 2));
}

TEST_P(JitReductions, AreSeenByTheLastBlockBehindAFence) {
  int sum = 0;
  int seen = -1;
  unsigned arrived = 0;
  run("last_block_sums", in.data(), &sum, &arrived, &seen);
  EXPECT_EQ(seen, std::accumulate(in.begin(), in.end(), 0));
}

TEST_P(JitReductions, ComeFromSomeLanes) {
  int out = 0;
  std::vector<int> stored(in.size() / 32, -1);
  run("some_lanes", in.data(), &out, stored.data());
  std::vector<int> sums(in.size() / 32);
  for (size_t i = 0; i < in.size(); ++i)
    sums[i / 32] += in[i];
  EXPECT_EQ(stored, sums);
  EXPECT_EQ(out, std::accumulate(sums.begin(), sums.end(), 0) + 31 * static_cast<int>(sums.size()));
}

TEST_P(JitReductions, HaveAPlaceForEachThreadOfABlock) {
  for (const uint32_t wide : {96U, 32U, 3U}) {
    std::vector<int> sums(192, 4);
    std::vector<int> expected = sums;
    const int count = static_cast<int>(in.size()) - 50;
    for (int i = 0; i < count; ++i)
      expected[2 * (in[i] % 96)] += i;
    kernels.run_on(GetParam(), "add_to_own", {blocks}, {wide, 96 / wide, 1}, 0, in.data(),
                   sums.data(), count);
    EXPECT_EQ(sums, expected) << wide;
  }
}

TEST_P(JitReductions, LeaveMemoryAloneThatNoThreadAddsTo) {
  for (const int rounds : {1, 4}) {
    std::vector<float> sums(96, -0.0F);
    std::vector<float> expected = sums;
    for (uint32_t b = 0; b < blocks; ++b) {
      for (uint32_t t = 0; t < block; ++t) {
        for (uint32_t i = 0; t != 5 && t % 3 == b % 3 && i < static_cast<uint32_t>(rounds); ++i)
          expected[95 - t] += 0.25F * static_cast<float>(in[(b * 7 + i) % 20 * 96 + t]);
      }
    }
    kernels.run_on(GetParam(), "some_add_to_own", {blocks}, {48, 2, 1}, 0, in.data(), sums.data(),
                   rounds);
    EXPECT_EQ(sums, expected) << rounds;
    EXPECT_TRUE(std::signbit(sums[90]));
  }
}

TEST_P(JitReductions, KeepSigns) {
  std::vector<float> sums(block, -0.0F);
  run("add_signs", sums.data());
  for (const float sum : sums)
    EXPECT_TRUE(sum == 0 && std::signbit(sum));
}

TEST_P(JitReductions, GoToOtherAddressesInOtherBlocks) {
  std::vector<int> two(2 * block, 3);
  run("add_to_two", two.data());
  std::vector<int> expected(2 * block, 3 + blocks);
  std::fill(expected.begin() + block, expected.end(), 3 + blocks * (blocks - 1) / 2);
  EXPECT_EQ(two, expected);
  std::vector<int> shifted(block + blocks, 3);
  std::vector<int> wanted = shifted;
  for (size_t i = 0; i < in.size(); ++i)
    ++wanted[i % block + i / block];
  run("add_to_blocks", shifted.data());
  EXPECT_EQ(shifted, wanted);
}

INSTANTIATE_TEST_SUITE_P(Workers, JitReductions, testing::Values(1U, 3U));

}  // namespace
}  // namespace sluice::hostcuda
