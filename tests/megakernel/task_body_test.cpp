// What the rewriter refuses, with its reason, and where it makes threads that end early wait.
#include <string>

#include <gtest/gtest.h>

#include "megakernel/cuda/body.hpp"
#include "ptx/parser.hpp"

namespace sluice::megakernel {
namespace {

Result<TaskBody> rewrite(const std::string& statements, const Dim3& block) {
  const auto module = ptx::parse(
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u32 n)\n{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<9>;\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n" +
      statements + "\nret;\n}\n");
  EXPECT_TRUE(module) << module.error().line();
  return rewrite_body(*module, "k", block, "b_");
}

bool drains(const std::string& statements, const Dim3& block) {
  const Result<TaskBody> body = rewrite(statements, block);
  EXPECT_TRUE(body) << body.error().line();
  return body && body->drains;
}

constexpr Dim3 whole_warps{64, 1, 1};
const std::string early_end = "setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra done;\nbar.sync 0;\ndone:";

TEST(TaskBody, DrainsWhereThreadsEndBeforeABarrier) {
  EXPECT_TRUE(drains(early_end, whole_warps));
  EXPECT_TRUE(drains("setp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\nbar.sync 0;", whole_warps));
}

TEST(TaskBody, DrainsWhereTheBlockFillsNoWholeWarps) {
  EXPECT_TRUE(drains("bar.sync 0;", {48, 1, 1}));
}

TEST(TaskBody, DoesNotDrainWhereAllThreadsBranchAlike) {
  EXPECT_FALSE(drains("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra done;\nbar.sync 0;\ndone:", whole_warps));
  EXPECT_FALSE(
      drains("mov.u32 %r3, 0;\nloop: bar.sync 0;\nadd.u32 %r3, %r3, 1;\n"
             "setp.lt.u32 %p1, %r3, %r1;\n@%p1 bra loop;",
             whole_warps));
}

TEST(TaskBody, DrainsWhereALoopEndsAtADifferentTurnForEachThread) {
  EXPECT_TRUE(
      drains("mov.u32 %r3, %r2;\nloop: bar.sync 0;\nadd.u32 %r3, %r3, 1;\n"
             "setp.lt.u32 %p1, %r3, %r1;\n@%p1 bra loop;",
             whole_warps));
}

TEST(TaskBody, TakesAShuffleOfTheFirstWarp) {
  const Result<TaskBody> body = rewrite(
      "setp.gt.u32 %p1, %r2, 31;\n@%p1 bra done;\nshfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\ndone:",
      whole_warps);
  EXPECT_TRUE(body) << body.error().line();
}

// The place in the block as cooperative groups compute it: (z * height + y) * width + x.
const std::string rank_in_block =
    "mov.u32 %r3, %tid.y;\nmov.u32 %r4, %tid.z;\nmov.u32 %r5, %ntid.y;\nmov.u32 %r6, %ntid.x;\n"
    "mad.lo.s32 %r7, %r4, %r5, %r3;\nmad.lo.s32 %r8, %r7, %r6, %r2;\n";

TEST(TaskBody, TakesAShuffleOfTheFirstWarpByItsRank) {
  const std::string first_warp =
      "setp.gt.u32 %p1, %r8, 31;\n@%p1 bra done;\n"
      "shfl.sync.bfly.b32 %r1|%p2, %r2, 1, 31, -1;\ndone:";
  EXPECT_TRUE(rewrite(rank_in_block + first_warp, whole_warps));
  // In two dimensions the rank is a sum, and nothing is known of it.
  EXPECT_FALSE(rewrite(rank_in_block + first_warp, {8, 8, 1}));
}

TEST(TaskBody, RefusesAShuffleByARankThatAnotherValueMayReplace) {
  const std::string shuffle =
      "setp.gt.u32 %p1, %r8, 31;\n@%p1 bra done;\n"
      "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\ndone:";
  // What is added is zero on one way and an exchanged value on another.
  EXPECT_FALSE(
      rewrite("mov.u32 %r7, 0;\nsetp.eq.u32 %p3, %r1, 0;\n@%p3 bra skip;\n"
              "shfl.sync.bfly.b32 %r7|%p2, %r2, 1, 31, -1;\nskip:\n"
              "add.s32 %r8, %r2, %r7;\n" +
                  shuffle,
              whole_warps));
}

// Ways that part and meet again before anybody waits or ends part nobody.
TEST(TaskBody, TakesBranchesThatRejoinBeforeAShuffle) {
  const std::string guarded_load =
      "setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra skip;\nadd.u32 %r3, %r2, 1;\nskip:\n";
  const std::string first_warp =
      "setp.gt.u32 %p2, %r2, 31;\n@%p2 bra done;\n"
      "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\ndone:";
  EXPECT_TRUE(rewrite(guarded_load + first_warp, whole_warps));
  EXPECT_FALSE(drains(guarded_load + "setp.eq.u32 %p2, %r1, 7;\n@%p2 bra done;\nbar.sync 0;\ndone:",
                      whole_warps));
  // A lane that leaves the loop early ends while others still exchange values.
  EXPECT_FALSE(
      rewrite("mov.u32 %r3, %r2;\nloop: shfl.sync.bfly.b32 %r4, %r2, 1, 31, -1;\n"
              "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra loop;\n"
              "add.u32 %r5, %r4, 1;",
              whole_warps));
}

TEST(TaskBody, RefusesTheAddressOfAFunction) {
  const auto module = ptx::parse(
      ".version 7.0\n.target sm_75\n.address_size 64\n.func f()\n{\nret;\n}\n"
      ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\n"
      "mov.u64 %rd2, f;\nst.global.u64 [%rd1], %rd2;\nret;\n}\n");
  ASSERT_TRUE(module) << module.error().line();
  const Result<TaskBody> body = rewrite_body(*module, "k", whole_warps, "b_");
  ASSERT_FALSE(body);
  EXPECT_NE(body.error().line().find("address of a function"), std::string::npos);
}

TEST(TaskBody, RefusesAShuffleThatSomeLanesDoNotReach) {
  const Result<TaskBody> body = rewrite(
      "setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra done;\nshfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\ndone:",
      whole_warps);
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().kind, ErrorKind::unsupported);
  EXPECT_NE(body.error().line().find("lanes may end"), std::string::npos);
}

TEST(TaskBody, RefusesWhatATaskDoesNotHave) {
  for (const char* line : {"mov.u32 %r3, %cluster_ctaid.x;", "mov.u32 %r3, %envreg1;",
                           "bar.sync %r1;", "setmaxnreg.inc.sync.aligned.u32 64;"}) {
    const Result<TaskBody> body = rewrite(line, whole_warps);
    ASSERT_FALSE(body) << line;
    EXPECT_EQ(body.error().kind, ErrorKind::unsupported) << line;
  }
}

TEST(TaskBody, SaysWhichBlocksNeedNoBarrierBetweenThem) {
  EXPECT_TRUE(rewrite("", whole_warps)->independent);
  EXPECT_FALSE(rewrite("bar.sync 0;", whole_warps)->independent);
}

}  // namespace
}  // namespace sluice::megakernel
