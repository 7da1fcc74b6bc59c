// Parameters, module variables, atomics from several workers, local memory and calls.
#include <algorithm>
#include <bit>
#include <cmath>

#include <gmock/gmock.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

class JitMemory : public testing::Test {
 protected:
  Kernels kernels{"jit_memory"};
};

struct Shape {
  int width;
  char tag;
  double scale;
  float weights[3];
};

TEST_F(JitMemory, ReadsStructuresByValue) {
  const Shape shape = {3, 5, 2.5, {1.0f, -2.0f, 8.0f}};
  std::vector<int16_t> out(96);
  kernels.run("by_value", {3}, {32}, 0, char{7}, shape, out.data(), 0.25);
  for (int i = 0; i < 96; ++i) {
    const double expected = static_cast<double>(7 + shape.width * i + shape.tag) +
                            shape.scale * static_cast<double>(shape.weights[i % 3]) + 0.25;
    ASSERT_EQ(out[i], static_cast<int16_t>(expected)) << i;
  }
}

TEST_F(JitMemory, GivesModuleVariablesTheirInitialValues) {
  std::vector<float> out(20);
  kernels.run("read_variables", {1}, {20}, 0, out.data());
  const float table[5] = {1.5f, -2.0f, 0.25f, 0, 0};
  for (int i = 0; i < 20; ++i) {
    const int linked = i & 1 ? 1 : 5;
    const float expected = table[i % 5] + static_cast<float>(10 * (i % 4 + 1));
    ASSERT_EQ(out[i], expected + static_cast<float>(linked)) << i;
  }
}

TEST_F(JitMemory, SharesModuleVariablesBetweenKernelsAndHost) {
  kernels.run("write_variables", {2}, {32}, 0, 0.5f);
  const Result<ModuleVariable> table = kernels.module().variable("table");
  const Result<ModuleVariable> counter = kernels.module().variable("counter");
  const Result<ModuleVariable> offsets = kernels.module().variable("offsets");
  ASSERT_TRUE(table && counter && offsets);
  EXPECT_EQ(table->bytes, 20u);
  EXPECT_EQ(static_cast<float*>(table->address)[1], -1.0f);
  EXPECT_EQ(*static_cast<int*>(counter->address), 64);
  static_cast<int*>(offsets->address)[2] = 1000;
  std::vector<float> out(4);
  kernels.run("read_variables", {1}, {4}, 0, out.data());
  EXPECT_EQ(out[2], 1.25f + 1000 + 5);
  EXPECT_FALSE(kernels.module().variable("missing"));
}

TEST_F(JitMemory, AddsAtomicallyFromSeveralWorkers) {
  for (unsigned workers : {1u, 4u}) {
    std::vector<int> integers(8, 0);
    float sum = 0;
    uint64_t wide = 0;
    double doubles = 0;
    kernels.run_on(workers, "atomics", {40}, {64}, 0, integers.data(), &sum, &wide, &doubles);
    const int threads = 40 * 64;
    EXPECT_EQ(integers[0], threads);
    EXPECT_EQ(integers[1], threads - 1);
    EXPECT_EQ(integers[2], -63);
    EXPECT_EQ(integers[3], -1);
    EXPECT_EQ(integers[4], 0);
    EXPECT_EQ(integers[5], threads % 10);
    EXPECT_EQ(integers[6], 2 * threads);
    EXPECT_EQ(integers[7], threads);
    EXPECT_EQ(sum, 0.5f * threads);
    EXPECT_EQ(wide, uint64_t{threads} << 33);
    EXPECT_EQ(doubles, 0.25 * threads);
  }
}

TEST_F(JitMemory, CallsFunctionsWithBarriersAndLoops) {
  std::vector<float> x(32), y(32);
  std::vector<int> data(32);
  const float coefficients[4] = {1.0f, -0.5f, 0.25f, 2.0f};
  for (int i = 0; i < 32; ++i) {
    x[i] = static_cast<float>(i) * 0.3f;
    data[i] = i * i;
  }
  kernels.run("calls", {1}, {32}, 0, x.data(), y.data(), &coefficients[0], data.data());
  for (int i = 0; i < 32; ++i) {
    float value = 0;
    for (int c = 3; c >= 0; --c)
      value = std::fma(value, x[i], coefficients[c]);
    ASSERT_EQ(y[i], value) << i;
    ASSERT_EQ(data[i], (i ^ 1) * (i ^ 1)) << i;
  }
}

TEST_F(JitMemory, FollowsGenericPointersIntoEverySpace) {
  for (int which : {0, 1, 2}) {
    std::vector<int> data(64, 1);
    kernels.run("generic_pointers", {1}, {32}, 0, data.data(), which);
    for (int t = 0; t < 32; ++t) {
      const int place = (t + which) % 3;
      ASSERT_EQ(data[t], place == 0 ? 101 : 1) << t;
      const int shared = t + (place == 1 ? 100 : 0);
      const int local = 10 * (t & 3) + (place == 2 ? 100 : 0);
      ASSERT_EQ(data[32 + t], shared + 1000 * local) << t;
    }
  }
}

TEST_F(JitMemory, GivesEachThreadItsLocalArray) {
  const int n = 50;
  std::vector<int> in(64 * n), out(64), expected(64);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<int>(i * i % 91);
  for (int t = 0; t < 64; ++t) {
    int bins[24] = {};
    for (int i = 0; i < n; ++i)
      ++bins[in[t * n + i] % 24];
    for (int i = 1; i < 24; ++i)
      expected[t] = bins[i] > bins[expected[t]] ? i : expected[t];
  }
  kernels.run("histogram_local", {1}, {64}, 0, in.data(), out.data(), n);
  EXPECT_EQ(out, expected);
}

TEST_F(JitMemory, LoadsAndStoresVectors) {
  struct alignas(16) Four {
    float values[4];
  };
  std::vector<Four> in(64), out(64);
  std::vector<int16_t> pairs(128);
  for (int i = 0; i < 64; ++i)
    in[i] = {{1.0f * i, 2.0f * i, 3.0f * i, 4.0f * i}};
  kernels.run("vectors", {2}, {32}, 0, in.data(), out.data(), pairs.data());
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 4; ++j)
      ASSERT_EQ(out[i].values[j], in[i].values[3 - j]);
    ASSERT_EQ(pairs[2 * i], i);
    ASSERT_EQ(pairs[2 * i + 1], 2 * i);
  }
}

TEST_F(JitMemory, EndsTheThreadThatTraps) {
  std::vector<int> out(8, 0);
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::none);
  kernels.run("traps", {1}, {8}, 0, out.data());
  EXPECT_EQ(out[3], 0);
  EXPECT_EQ(out[4], 1);
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::trap);
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::none);
}

TEST_F(JitMemory, UpdatesSharedMemoryOneThreadAfterTheOther) {
  constexpr int threads = 96;
  std::vector<int> bins(9), seen(threads);
  float sum = 0;
  kernels.run("shared_atomics", {1}, {threads}, 0, bins.data(), seen.data(), &sum);
  int exclusive = 0, even = 0, odd = 0;
  for (int t = 0; t < threads; ++t) {
    exclusive ^= t;
    (t % 2 == 0 ? even : odd) += t;
  }
  std::sort(seen.begin(), seen.end());
  for (int t = 0; t < threads; ++t)
    EXPECT_EQ(seen[static_cast<size_t>(t)], t);
  EXPECT_THAT(bins, testing::ElementsAre(threads, 63, -(threads - 1), -1, exclusive, threads % 10,
                                         2 * threads, even, odd));
  EXPECT_EQ(sum, 0.5f * threads);
}

}  // namespace
}  // namespace sluice::hostcuda
