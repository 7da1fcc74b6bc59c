// The device library, calls through pointers, and barriers for a part of the block.
#include <numeric>

#include "hostcuda/jit/library/device_printf.hpp"
#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

TEST(JitCalls, FollowATableOfFunctions) {
  Kernels kernels("jit_calls");
  std::vector<int> chosen(64);
  std::vector<int> result(64);
  for (int i = 0; i < 64; ++i)
    chosen[i] = i % 3 == 0;
  kernels.run("call_through_table", {1}, {64}, 0, chosen.data(), result.data());
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(result[i], chosen[i] ? i * 3 : i + 3);
}

TEST(JitCalls, KeepAFunctionsAddressBetweenKernelsAndBlockSizes) {
  Kernels kernels("jit_calls");
  uint64_t pointer = 0;
  int result = 0;
  kernels.run("take_pointer", {1}, {32}, 0, &pointer);
  kernels.run("call_pointer", {1}, {1}, 0, pointer, &result);
  EXPECT_EQ(result, 42);
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::none);
}

TEST(JitCalls, TrapAtAnAddressThatIsNoFunctions) {
  Kernels kernels("jit_calls");
  int result = 7;
  kernels.run("call_pointer", {1}, {1}, 0, uint64_t{0x1234}, &result);
  EXPECT_EQ(result, 7);
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::trap);
}

TEST(JitCalls, FollowVirtualFunctions) {
  Kernels kernels("jit_calls");
  std::vector<int> kind(40);
  std::vector<int> result(40);
  for (int i = 0; i < 40; ++i)
    kind[i] = i % 2;
  kernels.run("virtual_calls", {1}, {40}, 0, kind.data(), result.data());
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(result[i], kind[i] ? i * i : i);
}

TEST(JitCalls, PrintAsCudaDoes) {
  Kernels kernels("jit_calls");
  testing::internal::CaptureStdout();
  kernels.run("print", {1}, {2}, 0, 17, 3.14159, static_cast<long long>(-5000000000));
  flush_device_output();
  const std::string line = "17| 3.14|-5000000000|text|z|%|0000beef|17  |\n";
  EXPECT_EQ(testing::internal::GetCapturedStdout(), line + line);
}

TEST(JitCalls, EndAThreadWhoseAssertionFails) {
  Kernels kernels("jit_calls");
  std::vector<int> values = {1, 2, 0, 4};
  std::vector<int> reached(4);
  kernels.run("check", {1}, {4}, 0, values.data(), reached.data());
  EXPECT_EQ(reached, (std::vector<int>{1, 1, 0, 1}));
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::assertion);
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::none);
}

TEST(JitCalls, TellATrapFromAnAssertion) {
  Kernels kernels("jit_calls");
  kernels.run("trap_one", {1}, {32}, 0, 5);
  EXPECT_EQ(kernels.module().take_fault(), DeviceFault::trap);
}

TEST(JitCalls, AllocateOnTheDevice) {
  Kernels kernels("jit_calls");
  std::vector<int> sums(48);
  kernels.run("heap", {1}, {48}, 0, sums.data());
  for (int n = 1; n <= 48; ++n)
    EXPECT_EQ(sums[n - 1], n * n + n * (n - 1) / 2);
}

TEST(JitCalls, ReadATimerThatNeverRunsBackwards) {
  Kernels kernels("jit_calls");
  uint64_t times[2] = {};
  kernels.run("clocks", {1}, {1}, 0, &times[0]);
  EXPECT_GT(times[0], uint64_t{0});
  EXPECT_LE(times[0], times[1]);
}

TEST(JitCalls, HandOverBetweenWarpsAtNumberedBarriers) {
  Kernels kernels("jit_calls");
  const int rounds = 5;
  std::vector<int> in(32 * rounds);
  std::vector<int> out(32 * rounds);
  std::iota(in.begin(), in.end(), 1);
  kernels.run("produce_consume", {1}, {64}, 0, in.data(), out.data(), rounds);
  for (int r = 0; r < rounds; ++r) {
    for (int lane = 0; lane < 32; ++lane)
      ASSERT_EQ(out[r * 32 + lane], 2 * in[r * 32 + 31 - lane]) << r << " " << lane;
  }
}

TEST(JitCalls, ReduceAtABarrierOfEachHalf) {
  Kernels kernels("jit_calls");
  std::vector<int> in(128);
  std::vector<int> out(128);
  int set[2] = {};
  for (int i = 0; i < 128; ++i) {
    in[i] = i % 5 == 0 || (i >= 64 && i % 3 == 0);
    set[i / 64] += in[i];
  }
  kernels.run("reduce_halves", {1}, {128}, 0, in.data(), out.data());
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(out[i], set[i / 64]);
}

}  // namespace
}  // namespace sluice::hostcuda
