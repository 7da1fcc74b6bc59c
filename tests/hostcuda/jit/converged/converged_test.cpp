// Lanes of a warp see each other's earlier accesses without a barrier.
#include <algorithm>
#include <functional>
#include <numeric>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

class Converged : public testing::Test {
 protected:
  static std::vector<int> numbers(size_t count) {
    std::vector<int> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = static_cast<int>(i * 37 % 101) - 40;
    return values;
  }

  void expect_sums(const char* kernel) {
    const std::vector<int> in = numbers(5 * 256);
    for (uint32_t block : {64U, 128U, 256U}) {
      std::vector<int> out(5);
      kernels.run(kernel, {5}, {block}, 0, in.data(), out.data());
      for (size_t i = 0; i < 5; ++i) {
        const auto first = in.begin() + static_cast<long>(i * block);
        EXPECT_EQ(out[i], std::accumulate(first, first + block, 0))
            << kernel << ", block " << i << " of " << block;
      }
    }
  }

  // The sums of each warp's values up to each lane's.
  void expect_scan(const char* kernel, std::initializer_list<uint32_t> blocks) {
    const std::vector<int> in = numbers(256);
    for (uint32_t threads : blocks) {
      std::vector<int> out(256);
      kernels.run(kernel, {1}, {threads}, 0, in.data(), out.data());
      int sum = 0;
      for (uint32_t t = 0; t < threads; ++t) {
        sum = t % 32 == 0 ? in[t] : sum + in[t];
        ASSERT_EQ(out[t], sum) << kernel << ", thread " << t << " of " << threads;
      }
    }
  }

  Kernels kernels{"converged"};
};

TEST_F(Converged, TreesEndWithoutABarrier) {
  expect_sums("tree_volatile");
  expect_sums("tree_plain");
  expect_sums("tree_loop");
}

TEST_F(Converged, TreesGoOnWithThoseThatAreLeft) {
  const std::vector<int> in = numbers(5 * 256);
  for (const int n : {256, 200}) {
    std::vector<int> out(5);
    kernels.run("tree_in_branches", {5}, {256}, 0, in.data(), out.data(), n);
    for (size_t i = 0; i < 5; ++i) {
      const auto first = in.begin() + static_cast<long>(i * 256);
      EXPECT_EQ(out[i], std::accumulate(first, first + 256, 0)) << "block " << i << " of " << n;
    }
  }
}

TEST_F(Converged, LoopsGoOnWithThoseThatAreLeft) {
  for (const int n : {0, 1, 2, 7}) {
    std::vector<int> rounds(256), right(256);
    for (int t = 0; t < 256; ++t)
      right[size_t(t)] = t < 100 || n == 0 ? n * (n + 1) / 2 + 1000 : 1;
    kernels.run("fewer_after_one_round", {1}, {256}, 0, rounds.data(), n);
    EXPECT_EQ(rounds, right) << n << " rounds";
  }
}

TEST_F(Converged, EachWarpHasATree) {
  const std::vector<int> in = numbers(1024);
  for (uint32_t threads : {32U, 64U, 256U, 1024U, 7U, 40U, 250U}) {
    std::vector<int> out(32);
    kernels.run("warp_trees", {1}, {threads}, 0, in.data(), out.data());
    for (uint32_t first = 0; first < threads; first += 32) {
      const uint32_t last = std::min(first + 32, threads);
      EXPECT_EQ(out[first / 32], std::accumulate(in.begin() + first, in.begin() + last, 0))
          << "warp " << first / 32 << " of " << threads << " threads";
    }
  }
}

TEST_F(Converged, AWarpSpansRows) {
  const std::vector<int> in = numbers(256);
  std::vector<int> out(8);
  kernels.run("tree_of_two_rows", {1}, {16, 16}, 0, in.data(), out.data());
  for (size_t warp = 0; warp < 8; ++warp) {
    const auto first = in.begin() + static_cast<long>(warp * 32);
    EXPECT_EQ(out[warp], std::accumulate(first, first + 32, 0)) << warp;
  }
}

TEST_F(Converged, WarpsScan) {
  expect_scan("padded_scan", {32, 96, 256});
  expect_scan("scan_of_some", {32, 96, 256, 40, 7});
}

TEST_F(Converged, AllLanesReadBeforeAnyWrites) {
  const std::vector<int> in = numbers(256);
  for (int up : {0, 1}) {
    std::vector<int> out(256);
    kernels.run("shifts", {1}, {256}, 0, in.data(), out.data(), up);
    for (size_t t = 0; t < 256; ++t) {
      const size_t from = (t & ~size_t{31}) + (t + (up != 0 ? 3 : 29)) % 32;
      ASSERT_EQ(out[t], in[from]) << "thread " << t << ", up " << up;
    }
  }
}

TEST_F(Converged, AFunctionExchanges) {
  const std::vector<int> in = numbers(256);
  std::vector<int> out(256);
  kernels.run("tree_in_function", {1}, {256}, 0, in.data(), out.data());
  for (size_t t = 0; t < 256; ++t) {
    const auto first = in.begin() + static_cast<long>(t & ~size_t{31});
    ASSERT_EQ(out[t], std::accumulate(first, first + 32, 0)) << t;
  }
}

TEST_F(Converged, ATableSaysWhereLanesRead) {
  const std::vector<int> in = numbers(256);
  std::vector<int> from(256), out(256);
  for (size_t t = 0; t < 256; ++t)
    from[t] = static_cast<int>((t * t + 31) % 32);
  kernels.run("table", {1}, {256}, 0, in.data(), from.data(), out.data());
  for (size_t t = 0; t < 256; ++t)
    ASSERT_EQ(out[t], in[(t & ~size_t{31}) + static_cast<size_t>(from[t])]) << t;
}

TEST_F(Converged, LanesThatSkipARoundWaitForIt) {
  std::vector<int> out(256);
  kernels.run("doubling", {1}, {256}, 0, out.data());
  for (size_t t = 0; t < 256; ++t)
    ASSERT_EQ(out[t], static_cast<int>(t % 32)) << t;
}

TEST_F(Converged, LanesJoinAfterABranch) {
  const std::vector<int> in = numbers(256);
  std::vector<int> out(256);
  kernels.run("both_ways", {1}, {256}, 0, in.data(), out.data());
  for (size_t t = 0; t < 256; ++t) {
    const size_t from = t ^ 31;
    ASSERT_EQ(out[t], from % 32 % 3 == 0 ? in[from] : -in[from]) << t;
  }
}

TEST_F(Converged, LanesUseWhatOthersFoundInTheRoundBefore) {
  const std::vector<int> factors = numbers(32 * 32);
  std::vector<int> x = numbers(32), expected = x;
  for (size_t t = 0; t < 32; ++t) {
    for (size_t i = 0; i < t; ++i)
      expected[t] = static_cast<int>(static_cast<unsigned>(expected[t]) -
                                     static_cast<unsigned>(factors[t * 32 + i]) *
                                         static_cast<unsigned>(expected[i]));
  }
  kernels.run("substitute", {1}, {32}, 0, factors.data(), x.data());
  EXPECT_EQ(x, expected);
}

TEST_F(Converged, PlainReadsSeeAtomicsOfTheWarp) {
  const std::vector<int> in = numbers(256);
  std::vector<int> out(256);
  kernels.run("atomic_then_plain", {1}, {256}, 0, in.data(), out.data());
  for (size_t t = 0; t < 256; ++t) {
    const auto first = in.begin() + static_cast<long>(t & ~size_t{31});
    ASSERT_EQ(out[t], std::accumulate(first, first + 32, 100)) << t;
  }
}

TEST_F(Converged, GlobalMemoryPassesToTheNextLane) {
  const std::vector<int> in = numbers(256);
  std::vector<int> buffer(256), out(256);
  kernels.run("next_in_buffer", {2}, {128}, 0, in.data(), buffer.data(), out.data());
  std::vector<int> moved = in;
  kernels.run("shift_in_place", {2}, {128}, 0, moved.data());
  for (size_t i = 0; i < 256; ++i) {
    ASSERT_EQ(out[i], i % 32 < 31 ? 2 * in[i + 1] : 0) << i;
    ASSERT_EQ(moved[i], i % 32 > 0 ? in[i - 1] + 1 : in[i]) << i;
  }
}

TEST_F(Converged, WarpsSortInGlobalMemory) {
  for (int64_t count : {32, 64, 256, 1024}) {
    std::vector<int> buffer = numbers(2 * static_cast<size_t>(count));
    std::vector<int> wanted = buffer;
    kernels.run("sort_in_buffer", {1}, {64}, 0, buffer.data(), count);
    for (auto part = wanted.begin(); part != wanted.end(); part += count)
      std::sort(part, part + count);
    EXPECT_EQ(buffer, wanted) << count;
  }
}

TEST_F(Converged, WarpsMergeInGlobalMemory) {
  for (int count : {32, 64, 256}) {
    std::vector<int> buffer = numbers(2 * static_cast<size_t>(count));
    std::sort(buffer.begin(), buffer.begin() + count, std::greater<>());
    std::sort(buffer.begin() + count, buffer.end(), std::greater<>());
    std::vector<int> wanted = buffer;
    kernels.run("merge_in_buffer", {1}, {32}, 0, buffer.data(), count);
    std::sort(wanted.begin(), wanted.end(), std::greater<>());
    wanted.resize(static_cast<size_t>(count));
    buffer.resize(static_cast<size_t>(count));
    EXPECT_EQ(buffer, wanted) << count;
  }
}

TEST_F(Converged, TreesAndScansGoThroughGlobalMemory) {
  const std::vector<int> in = numbers(32);
  std::vector<int> tree = in, scan = in;
  kernels.run("tree_in_buffer", {1}, {32}, 0, tree.data(), 32);
  kernels.run("scan_in_buffer", {1}, {32}, 0, scan.data(), 32);
  std::vector<int> sums(32);
  std::partial_sum(in.begin(), in.end(), sums.begin());
  EXPECT_EQ(tree.front(), sums.back());
  EXPECT_EQ(scan, sums);
}

// Lanes that take a lock in turn must not wait for each other inside it.
TEST_F(Converged, ALockIsTakenByOneLaneAfterTheOther) {
  const std::vector<int> in = numbers(64);
  std::vector<int> out(65);
  kernels.run("lock_and_tree", {1}, {64}, 0, in.data(), out.data());
  for (size_t t = 0; t < 64; ++t)
    ASSERT_EQ(out[t], in[t] + (t % 32 < 16 ? in[t + 16] : 0)) << t;
}

}  // namespace
}  // namespace sluice::hostcuda
