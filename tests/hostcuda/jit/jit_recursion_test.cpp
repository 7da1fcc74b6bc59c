// Functions that call themselves, against the same recursion in C++.
#include <algorithm>
#include <functional>
#include <numeric>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

TEST(JitRecursion, TakesBothBranchesOfATree) {
  Kernels kernels("jit_recursion");
  std::vector<unsigned> n(64);
  std::vector<unsigned> result(64);
  for (unsigned i = 0; i < 64; ++i)
    n[i] = i * 7 % 17;
  kernels.run("fibonacci_numbers", {2}, {32}, 0, n.data(), result.data());
  std::function<unsigned(unsigned)> fibonacci = [&](unsigned i) {
    return i < 2 ? i : fibonacci(i - 1) + fibonacci(i - 2);
  };
  for (unsigned i = 0; i < 64; ++i)
    EXPECT_EQ(result[i], fibonacci(n[i])) << n[i];
}

TEST(JitRecursion, GivesEachCallItsOwnVariables) {
  Kernels kernels("jit_recursion");
  const int count = 100;
  std::vector<int> values(32 * count);
  std::vector<int> depth(32);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int>(i * 7919 % 1009);
  std::vector<int> expected = values;
  kernels.run("sort_rows", {1}, {32}, 0, values.data(), count, depth.data());
  for (int row = 0; row < 32; ++row) {
    std::sort(expected.begin() + row * count, expected.begin() + (row + 1) * count);
    EXPECT_GE(depth[row], 6);
  }
  EXPECT_EQ(values, expected);
}

TEST(JitRecursion, FollowsFunctionsThatCallEachOther) {
  Kernels kernels("jit_recursion");
  std::vector<int> result(64);
  kernels.run("parity", {1}, {64}, 0, result.data());
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(result[i], i % 2 == 0 ? 2 : 1);
}

TEST(JitRecursion, CopiesStructuresIntoEachCall) {
  Kernels kernels("jit_recursion");
  std::vector<double> values(40 * 33);
  std::vector<double> sums(40);
  std::iota(values.begin(), values.end(), 0.5);
  kernels.run("sum_by_halves", {1}, {40}, 0, values.data(), 33, sums.data());
  for (int row = 0; row < 40; ++row) {
    const auto begin = values.begin() + row * 33;
    EXPECT_EQ(sums[row], std::accumulate(begin, begin + 33, 0.0)) << row;
  }
}

TEST(JitRecursion, MeetsAtBarriersOnEachLevel) {
  Kernels kernels("jit_recursion");
  std::vector<int> in(512);
  std::vector<int> out(512);
  std::iota(in.begin(), in.end(), 1);
  kernels.run("reduce_recursively", {2}, {256}, 0, in.data(), out.data());
  // Of the widths from 128 down to 1, five leave out lanes: 16 + 8 + 4 + 2 + 1; three don't.
  const int votes = 3 * 32 + 31;
  for (int block = 0; block < 2; ++block) {
    const int sum = std::accumulate(in.begin() + block * 256, in.begin() + (block + 1) * 256, 0);
    for (int i = 0; i < 256; ++i)
      ASSERT_EQ(out[block * 256 + i], sum + votes) << block << " " << i;
  }
}

TEST(JitRecursion, GoesThroughPointers) {
  Kernels kernels("jit_recursion");
  // (3 + 4) * (5 + 2 * 6); a child stands behind its parent by so many nodes.
  const std::vector<int> nodes = {2, 1, 4, 1, 1, 2, 0, 3, 0, 0, 4, 0, 1, 1,
                                  2, 0, 5, 0, 2, 1, 2, 0, 2, 0, 0, 6, 0};
  std::vector<int> result(8);
  kernels.run("evaluate", {1}, {8}, 0, nodes.data(), result.data());
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(result[i], 7 * 17 + i);
}

TEST(JitRecursion, EndsTheThreadFromAnyDepth) {
  Kernels kernels("jit_recursion");
  std::vector<int> values(48);
  std::vector<int> places(64, -1);
  for (int i = 0; i < 48; ++i)
    values[i] = 47 - i;
  kernels.run("find_or_trap", {1}, {64}, 0, values.data(), 48, places.data());
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(places[i], i < 48 ? 47 - i : -1);
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::trap);
}

TEST(JitRecursion, TrapsWhereItHasNoEnd) {
  Kernels kernels("jit_recursion");
  int result = 7;
  kernels.run("go_down", {1}, {1}, 0, 401u, &result);
  EXPECT_EQ(result, 200);
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::none);
  kernels.run("go_down", {1}, {1}, 0, 400u, &result);
  EXPECT_EQ(result, 200);
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::trap);
}

}  // namespace
}  // namespace sluice::hostcuda
