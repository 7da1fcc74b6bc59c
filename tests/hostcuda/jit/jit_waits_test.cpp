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
                                           "round_and_round", "some_of_many", "takes_a_lock"));

TEST_P(OtherKernels, RunTheirBlocksInRows) {
  EXPECT_FALSE(waits(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Loops, OtherKernels,
                         ::testing::Values("adds_up", "follows", "goes_on_together", "probes",
                                           "pushes", "retries", "takes_turns", "tries_often"));

// clang makes one loop of going round all words until none is missing, which begins anew where one
// was; whether one was is a predicate, or a number where nvcc keeps it.
TEST(WaitingLoops, AreFoundWhereRoundsAndWordsAreOneLoop) {
  for (const bool in_a_number : {false, true}) {
    const std::string text = std::string(R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry goes_round(.param .u64 words, .param .u32 count) {
  .reg .pred %missing, %now, %there, %inside, %on;
  .reg .b16 %was, %is, %more;
  .reg .b32 %i, %next, %count, %word;
  .reg .b64 %words, %place, %at;
  ld.param.u64 %words, [words];
  ld.param.u32 %count, [count];
  mov.u32 %i, 0;
  mov.pred %missing, 0;
  mov.u16 %was, 0;
again:
  mul.wide.s32 %place, %i, 4;
  add.s64 %at, %words, %place;
  ld.volatile.global.u32 %word, [%at];
  setp.ne.s32 %there, %word, 0;
  mov.pred %now, %missing;
  mov.u16 %is, %was;
  @%there bra on;
  mov.pred %now, -1;
  mov.u16 %is, 1;
on:
  add.s32 %next, %i, 1;
  setp.lt.s32 %inside, %next, %count;
)") +
                             (in_a_number ? R"(
  selp.u16 %more, 1, 0, %inside;
  and.b16 %was, %is, %more;
  or.b16 %more, %is, %more;
  setp.ne.u16 %on, %more, 0;
)"
                                          : R"(
  or.pred %on, %inside, %now;
  and.pred %missing, %inside, %now;
)") + R"(
  selp.b32 %i, %next, 0, %inside;
  @%on bra again;
  ret;
}
)";
    const auto compiled = compile_text(text);
    ASSERT_NE(compiled, nullptr);
    const auto code = compiled->block_code("goes_round", {64, 1, 1}, 0);
    ASSERT_TRUE(code) << code.error().line();
    EXPECT_TRUE(code->waits_for_blocks != 0) << in_a_number;
  }
}

}  // namespace
}  // namespace sluice::hostcuda
