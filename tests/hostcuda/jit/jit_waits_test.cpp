// Which kernels are taken to wait for other blocks, and what threads of a block that wait for each
// other compute.
#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

class WaitingKernels : public ::testing::TestWithParam<const char*> {};
class OtherKernels : public ::testing::TestWithParam<const char*> {};

bool waits(const char* kernel) {
  Kernels kernels("jit_waits");
  const Result<SluiceBlockCode> code = kernels.module().block_code(kernel, {64, 1, 1}, 0);
  EXPECT_TRUE(code) << code.error().line();
  return code && code->waits_for_blocks != 0;
}

TEST_P(WaitingKernels, RunTheirBlocksSideBySide) {
  EXPECT_TRUE(waits(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Loops, WaitingKernels,
                         ::testing::Values("by_a_branch", "by_a_flag", "looks_then_swaps",
                                           "most_so_far", "reads_after_a_fence", "reads_again",
                                           "some_of_many", "takes_a_lock"));

TEST_P(OtherKernels, RunTheirBlocksInRows) {
  EXPECT_FALSE(waits(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Loops, OtherKernels,
                         ::testing::Values("adds_up", "follows", "goes_on_together", "probes",
                                           "pushes", "retries", "takes_turns", "tries_often"));

}  // namespace
}  // namespace sluice::hostcuda
