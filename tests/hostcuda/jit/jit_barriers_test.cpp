// Kernels with barriers in straight lines, in loops, after early exits and in divergent branches.
#include <cmath>

#include <gmock/gmock.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

std::vector<float> numbers(size_t count) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = std::sin(static_cast<float>(i) * 0.37f) * 10.0f;
  return result;
}

std::vector<int> integers(size_t count, int modulus) {
  std::vector<int> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = static_cast<int>(i * 7919 % modulus);
  return result;
}

class JitBarriers : public testing::Test {
 protected:
  Kernels kernels{"jit_barriers"};
};

TEST_F(JitBarriers, MultipliesMatricesThroughSharedMemory) {
  const int m = 50, n = 70, k = 45;
  const std::vector<float> a = numbers(m * k);
  const std::vector<float> b = numbers(k * n);
  for (uint32_t tile : {8u, 16u}) {
    std::vector<float> expected(m * n);
    for (int y = 0; y < m; ++y) {
      for (int x = 0; x < n; ++x) {
        float sum = 0;
        for (int i = 0; i < k; ++i)
          sum = std::fma(a[y * k + i], b[i * n + x], sum);
        expected[y * n + x] = sum;
      }
    }
    std::vector<float> c(m * n, -1.0f);
    kernels.run(tile == 8 ? "gemm_8" : "gemm_16", {(n + tile - 1) / tile, (m + tile - 1) / tile},
                {tile, tile}, 0, a.data(), b.data(), c.data(), m, n, k);
    EXPECT_EQ(c, expected) << "tile " << tile;
  }
}

TEST_F(JitBarriers, ReducesInDynamicSharedMemory) {
  const int n = 1000;
  const std::vector<float> in = numbers(n);
  for (uint32_t block : {1u, 32u, 64u, 256u}) {
    const uint32_t blocks = (n + block - 1) / block;
    std::vector<float> out(blocks);
    kernels.run("reduce", {blocks}, {block}, block * 4, in.data(), out.data(), n);
    for (uint32_t i = 0; i < blocks; ++i) {
      std::vector<float> pool(block);
      for (uint32_t t = 0; t < block; ++t)
        pool[t] = i * block + t < n ? in[i * block + t] : 0.0f;
      for (uint32_t half = block / 2; half > 0; half /= 2) {
        for (uint32_t t = 0; t < half; ++t)
          pool[t] += pool[t + half];
      }
      ASSERT_EQ(out[i], pool[0]) << "block " << i << " of " << block << " threads";
    }
  }
}

TEST_F(JitBarriers, LetsThreadsLeaveBeforeABarrier) {
  const int n = 600;
  const std::vector<int> in = integers(n, 1000);
  for (uint32_t block : {64u, 100u, 256u}) {
    std::vector<int> out(n, -7);
    // Two blocks more than there is work: in the last all threads leave at once.
    kernels.run("early_exit", {n / block + 3}, {block}, 0, in.data(), out.data(), n);
    const auto doubled = [&](int i) {
      const bool has_neighbour = i + 1 < n && (i + 1) % static_cast<int>(block) != 0;
      return (has_neighbour ? in[i + 1] : -1) * 2;
    };
    for (int i = 0; i < n; ++i) {
      const bool first = i % static_cast<int>(block) == 0;
      ASSERT_EQ(out[i], doubled(i) + (first ? 0 : doubled(i - 1))) << i << ", block " << block;
    }
  }
}

TEST_F(JitBarriers, MeetsABarrierUnderABranchThatOnlyLooksDivergent) {
  const std::vector<int> in = integers(128 * 4, 997);
  std::vector<int> data = in;
  kernels.run("looks_divergent", {4}, {128}, 0, data.data(), 2);
  for (int i = 0; i < 128 * 4; ++i) {
    const int block = i / 128;
    ASSERT_EQ(data[i], block < 2 ? in[block * 128 + 127 - i % 128] : in[i]) << i;
  }
}

TEST_F(JitBarriers, LetsTwoArmsWaitForEachOther) {
  const std::vector<int> in = integers(128 * 2, 997);
  std::vector<int> out(in.size());
  kernels.run("barrier_in_arms", {2}, {128}, 0, in.data(), out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(out[i], i % 2 == 0 ? in[i + 1] : in[i - 1] * 10) << i;
  }
}

TEST_F(JitBarriers, LetsThreadsLeaveALoopWithABarrierOneByOne) {
  const int threads = 24;
  std::vector<int> counts(threads * threads, -1);
  int total = 0;
  kernels.run("barrier_in_divergent_loop", {1}, {threads}, 0, counts.data(), &total);
  int sum = 0;
  for (int i = 0; i < threads; ++i) {
    sum += threads - i;
    for (int t = 0; t < threads; ++t)
      ASSERT_EQ(counts[i * threads + t], t >= i ? sum : -1);
  }
  EXPECT_EQ(total, sum);
}

TEST_F(JitBarriers, KeepsValuesAcrossBarriers) {
  for (const Dim3& block : {Dim3{96}, Dim3{8, 6, 2}, Dim3{1, 33}}) {
    const auto threads = static_cast<int>(block.count());
    const std::vector<float> in = numbers(threads * 3);
    std::vector<float> out(in.size());
    const int rounds = 5;
    kernels.run("keeps_values", {3}, block, 0, in.data(), out.data(), rounds);
    for (int b = 0; b < 3; ++b) {
      std::vector<float> value(in.begin() + b * threads, in.begin() + (b + 1) * threads);
      std::vector<float> sum(threads, 0.0f);
      for (int round = 0; round < rounds; ++round) {
        std::vector<float> pool(threads);
        for (int t = 0; t < threads; ++t)
          pool[t] = value[t] + static_cast<float>(round);
        for (int t = 0; t < threads; ++t) {
          value[t] = pool[(t + 1) % threads];
          sum[t] = in[b * threads + t] > 0 ? sum[t] + value[t] : sum[t] - value[t];
        }
      }
      for (int t = 0; t < threads; ++t) {
        ASSERT_EQ(out[b * threads + t], sum[t] + in[b * threads + t]) << t;
      }
    }
  }
}

TEST_F(JitBarriers, CombinesPredicatesOfTheBlock) {
  const uint32_t block = 80;
  std::vector<int> in = integers(block * 3, 101);
  for (uint32_t t = 0; t < block; ++t)
    in[block + t] = 50;
  std::vector<int> count(in.size()), all(in.size()), any(in.size());
  kernels.run("count_block", {3}, {block}, 0, in.data(), count.data(), all.data(), any.data());
  for (size_t i = 0; i < in.size(); ++i) {
    const auto first = in.begin() + static_cast<long>(i / block * block);
    const auto last = first + block;
    ASSERT_EQ(count[i], std::count_if(first, last, [](int v) { return v > 10; }));
    ASSERT_EQ(all[i] != 0, std::all_of(first, last, [](int v) { return v > 0; }));
    ASSERT_EQ(any[i] != 0, std::any_of(first, last, [](int v) { return v > 90; }));
  }
}

TEST_F(JitBarriers, PutsDynamicSharedMemoryAfterTheStatic) {
  const int n = 100;
  std::vector<double> in(64), out(64);
  for (int t = 0; t < 64; ++t)
    in[t] = t * 0.5 + 1;
  kernels.run("static_and_dynamic", {1}, {64}, n * 8, in.data(), out.data(), n);
  for (int t = 0; t < 64; ++t) {
    double sum = in[63 - t] + 1;
    for (int i = 0; i < n; ++i)
      sum += in[i % 64] * i;
    ASSERT_EQ(out[t], sum) << t;
  }
  const Result<KernelFacts> facts = kernels.module().facts("static_and_dynamic");
  ASSERT_TRUE(facts);
  EXPECT_GE(facts->static_shared_bytes, 64u * 8 + 33);
  EXPECT_LE(facts->static_shared_bytes, 64u * 8 + 48);
}

TEST_F(JitBarriers, KeepsLocalArraysOfEachThread) {
  const std::vector<int> in = integers(64, 100);
  std::vector<int> out(64);
  kernels.run("local_across_barrier", {1}, {64}, 0, in.data(), out.data());
  for (int t = 0; t < 64; ++t) {
    int history[8];
    for (int i = 0; i < 8; ++i)
      history[i] = in[t] + i;
    history[in[63 - t] & 7] = -1;
    int sum = 0;
    for (int i = 0; i < 8; ++i)
      sum += history[(i + in[t]) & 7] * (i + 1);
    ASSERT_EQ(out[t], sum) << t;
  }
}

TEST_F(JitBarriers, KeepsHowFarEachThreadCameInALoop) {
  for (const int block : {4, 64}) {
    std::vector<int> in = integers(9 * block, 100);
    std::vector<int> stops(block);
    for (int t = 0; t < block; ++t) {
      stops[t] = t + (1 + t % 7) * block;
      in[stops[t]] = -1 - t;
    }
    std::vector<int> expected(block);
    for (int t = 0; t < block; ++t)
      expected[t] = stops[t] - 1 - (t + 1) % block;
    std::vector<int> out(block);
    kernels.run("search", {1}, {static_cast<uint32_t>(block)}, 0, in.data(), out.data());
    EXPECT_EQ(out, expected) << block << " threads";
  }
}

}  // namespace
}  // namespace sluice::hostcuda
