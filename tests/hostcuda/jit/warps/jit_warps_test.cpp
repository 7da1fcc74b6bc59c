// Shuffles, votes, matches and warp barriers, in whole and in part of a warp.
#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include <gmock/gmock.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

class JitWarps : public testing::Test {
 protected:
  Kernels kernels{"jit_warps"};
};

TEST_F(JitWarps, SumsABlockByShuffles) {
  const int n = 5000;
  std::vector<int> in(n);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    in[i] = i * 31 % 127 - 50;
    sum += in[i];
  }
  for (uint32_t block : {32u, 128u, 256u}) {
    int out = 0;
    kernels.run_on(2, "block_sum", {6}, {block}, 0, in.data(), &out, n);
    EXPECT_EQ(out, sum) << "block of " << block;
  }
}

TEST_F(JitWarps, ShufflesInEveryDirection) {
  std::vector<int> in(64), out(320);
  for (int t = 0; t < 64; ++t)
    in[t] = t * t - 100;
  kernels.run("shuffles", {1}, {64}, 0, in.data(), out.data(), 32);
  for (int t = 0; t < 64; ++t) {
    const int warp = t & ~31;
    const int lane = t & 31;
    ASSERT_EQ(out[t], in[warp + (lane + 5) % 32]) << t;
    ASSERT_EQ(out[64 + t], in[lane >= 3 ? t - 3 : t]) << t;
    ASSERT_EQ(out[128 + t], in[lane % 8 + 2 < 8 ? t + 2 : t]) << t;
    ASSERT_EQ(out[192 + t], in[t ^ 1]) << t;
    const float real = static_cast<float>(in[warp + (lane & 16) + 7]) * 0.5f;
    const double wide = in[warp + 9] * 0.25;
    ASSERT_EQ(out[256 + t], static_cast<int>(static_cast<double>(real * 4) + wide * 8)) << t;
  }
}

TEST_F(JitWarps, ALaneThatTakesNoPartGivesZero) {
  std::vector<int> in(32, 7), out(16, -1);
  kernels.run("absent_source", {1}, {32}, 0, in.data(), out.data());
  EXPECT_THAT(out, testing::Each(0));
}

TEST_F(JitWarps, VotesAndMatches) {
  std::vector<uint32_t> in(64), out(256);
  for (uint32_t t = 0; t < 64; ++t)
    in[t] = t < 32 ? t * 5 % 8 : 2;
  kernels.run("votes", {1}, {64}, 0, in.data(), out.data());
  for (uint32_t t = 0; t < 64; ++t) {
    uint32_t ballot = 0, same = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t value = in[(t & ~31u) + lane];
      if (value > 3) ballot |= 1u << lane;
      if (value == in[t]) same |= 1u << lane;
    }
    ASSERT_EQ(out[t], ballot) << t;
    ASSERT_EQ(out[64 + t], t < 32 ? 3u : 2u) << t;
    ASSERT_EQ(out[128 + t], same) << t;
    ASSERT_EQ(out[192 + t], 0u) << t;
  }
}

TEST_F(JitWarps, LetsPartOfAWarpShuffle) {
  std::vector<int> in(96), out(96);
  for (int t = 0; t < 96; ++t)
    in[t] = t * 3 + 1;
  kernels.run("partial_warps", {1}, {96}, 0, in.data(), out.data());
  for (int t = 0; t < 96; ++t) {
    int sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += in[(t & ~31) + (t + i) % 20];
    ASSERT_EQ(out[t], t % 32 < 20 ? sum : -in[t]) << t;
  }
}

TEST_F(JitWarps, OrdersSharedMemoryInsideAWarp) {
  std::vector<int> in(64), out(64);
  for (int t = 0; t < 64; ++t)
    in[t] = t * 2 + t % 3;
  kernels.run("warp_barrier", {1}, {64}, 0, in.data(), out.data());
  std::vector<int> pool = in;
  for (int t = 0; t < 32; ++t)
    pool[t] += in[31 - t] & 1;
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], t < 32 ? pool[(t + 1) % 32] : in[t]) << t;
}

// Warps of one block run one after the other between its barriers.
TEST_F(JitWarps, RunRowsOfTheirOwn) {
  const int rows = 21;
  for (const Dim3& block :
       {Dim3{32, 1, 1}, Dim3{32, 8, 1}, Dim3{96, 1, 1}, Dim3{256, 1, 1}, Dim3{64, 3, 1}}) {
    for (int width : {1, 31, 32, 100, 256, 1000}) {
      std::vector<int> in(size_t(rows * width));
      std::vector<int> out(in.size(), -1);
      for (size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<int>(i * 7919 % 1013) - 500;
      const auto blocks = static_cast<uint32_t>(rows) * 32 / (block.x * block.y) + 1;
      kernels.run("row_statistics", {blocks, 1, 1}, block, 0, in.data(), out.data(), rows, width);
      for (int row = 0; row < rows; ++row) {
        const auto mine = std::span(in).subspan(size_t(row * width), size_t(width));
        const int most = *std::ranges::max_element(mine);
        int sum = 0;
        for (int value : mine)
          sum += most - value;
        for (int i = 0; i < width; ++i)
          ASSERT_EQ(out[size_t(row * width + i)], sum - mine[size_t(i)] * most)
              << block.x << " x " << block.y << ", row " << row << ", " << i;
      }
    }
  }
}

TEST_F(JitWarps, ScanABlockTileByTile) {
  for (uint32_t block : {32U, 96U, 128U, 1024U}) {
    for (int n : {1, 100, 128, 1000, 3000}) {
      std::vector<int> in(static_cast<size_t>(n));
      std::vector<int> out(in.size(), -1);
      for (size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<int>(i * 31 % 101) - 40;
      kernels.run("block_scan", {1, 1, 1}, {block, 1, 1}, 0, in.data(), out.data(), n);
      std::vector<int> expected(in.size());
      std::inclusive_scan(in.begin(), in.end(), expected.begin());
      EXPECT_EQ(out, expected) << "blocks of " << block << ", " << n << " elements";
    }
  }
}

// What all threads count alike is what those have counted that go on.
TEST_F(JitWarps, GoRoundALoopThatOtherWarpsHaveLeft) {
  for (uint32_t block : {64U, 96U, 256U}) {
    const int step = static_cast<int>(block);
    for (int n : {1, 3, step, step + 3, 3 * step + 33, 5 * step - 1}) {
      std::vector<int> in(static_cast<size_t>(n)), out(block, -1), expected(block);
      std::iota(in.begin(), in.end(), 1);
      for (int thread = 0; thread < step; ++thread) {
        int& sum = expected[static_cast<size_t>(thread)] = thread ^ 1;
        for (int i = thread; i < n; i += step)
          sum = sum * 5 + in[static_cast<size_t>(i)];
      }
      kernels.run("strided_rounds", {1, 1, 1}, {block, 1, 1}, 0, in.data(), out.data(), n, step);
      EXPECT_EQ(out, expected) << "blocks of " << block << ", " << n << " elements";
    }
  }
}

// As all lanes of a warp are run by one loop, which counts them.
TEST_F(JitWarps, KnowPartsOfTheirNumbers) {
  constexpr uint32_t blocks = 3;
  for (const uint32_t block : {32U, 64U, 256U}) {
    for (const uint32_t offset : {0U, 5U, 77U}) {
      const auto parts_of = [&](uint32_t x) {
        const uint64_t wide = x + uint64_t{32} * offset;
        return std::array<uint32_t, 10>{x & 31,
                                        x >> 5,
                                        (x << 5) & ~1023U,
                                        ((x + 32 * offset) << 3) & ~255U,
                                        (x << 27) >> 2,
                                        (x << 2) & 124,
                                        ((x + offset) << 5) & ~1023U,
                                        (x << 5 | 7) & ~1023U,
                                        static_cast<uint32_t>(wide * 8 >> 9),
                                        x % block & ~15U};
      };
      std::vector<uint32_t> expected;
      for (uint32_t x = 0; x < blocks * block; ++x) {
        const auto parts = parts_of(x);
        expected.insert(expected.end(), parts.begin(), parts.end());
        uint32_t sum = 0;
        for (uint32_t i = 0; i < parts.size(); ++i)
          sum = sum * 31 + parts_of(x ^ i)[i];
        expected.push_back(sum);
      }
      std::vector<uint32_t> out(expected.size());
      kernels.run("parts_of_numbers", {blocks}, {block}, 0, out.data(), offset);
      EXPECT_EQ(out, expected) << "blocks of " << block << ", offset " << offset;
    }
  }
}

}  // namespace
}  // namespace sluice::hostcuda
