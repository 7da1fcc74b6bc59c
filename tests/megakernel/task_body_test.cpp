// What the rewriter refuses, with its reason, and where it makes threads that end early wait.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "megakernel/cuda/body.hpp"
#include "megakernel/statements_body.hpp"
#include "ptx/parser.hpp"
#include "ptx/visit.hpp"

namespace sluice::megakernel {
namespace {

using ::testing::HasSubstr;
using testing::whole_warps;

Result<TaskBody> rewrite(const std::string& statements, const Dim3& block) {
  return testing::rewrite_statements(statements, block);
}

bool drops_out(const std::string& statements, const Dim3& block) {
  const Result<TaskBody> body = rewrite(statements, block);
  EXPECT_TRUE(body) << body.error().line();
  return body && body->drops_out;
}

const std::string early_end = "setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra done;\nbar.sync 0;\ndone:";

TEST(TaskBody, DrainsWhereThreadsEndBeforeABarrier) {
  EXPECT_TRUE(drops_out(early_end, whole_warps));
  EXPECT_TRUE(drops_out("setp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\nbar.sync 0;", whole_warps));
}

TEST(TaskBody, DrainsWhereTheBlockFillsNoWholeWarps) {
  EXPECT_TRUE(drops_out("bar.sync 0;", {48, 1, 1}));
}

TEST(TaskBody, DoesNotDrainWhereAllThreadsBranchAlike) {
  EXPECT_FALSE(
      drops_out("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra done;\nbar.sync 0;\ndone:", whole_warps));
  EXPECT_FALSE(
      drops_out("mov.u32 %r3, 0;\nloop: bar.sync 0;\nadd.u32 %r3, %r3, 1;\n"
                "setp.lt.u32 %p1, %r3, %r1;\n@%p1 bra loop;",
                whole_warps));
}

TEST(TaskBody, DrainsWhereALoopEndsAtADifferentTurnForEachThread) {
  EXPECT_TRUE(
      drops_out("mov.u32 %r3, %r2;\nloop: bar.sync 0;\nadd.u32 %r3, %r3, 1;\n"
                "setp.lt.u32 %p1, %r3, %r1;\n@%p1 bra loop;",
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

TEST(TaskBody, RefusesWhatATaskDoesNotHave) {
  for (const char* line : {"mov.u32 %r3, %cluster_ctaid.x;", "mov.u32 %r3, %envreg1;",
                           "bar.sync %r1;", "setmaxnreg.inc.sync.aligned.u32 64;"}) {
    const Result<TaskBody> body = rewrite(line, whole_warps);
    ASSERT_FALSE(body) << line;
    EXPECT_EQ(body.error().kind, ErrorKind::unsupported) << line;
  }
}

TEST(TaskBody, RefusesExchangesOfLanesThatAreNotNamed) {
  EXPECT_FALSE(testing::rewrite_statements("vote.any.pred %p1, %p2;", testing::whole_warps));
  EXPECT_TRUE(
      testing::rewrite_statements("vote.sync.any.pred %p1, %p2, -1;", testing::whole_warps));
}

TEST(TaskBody, RefusesMatricesWhereTheBlockFillsNoWholeWarps) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r4];";
  EXPECT_TRUE(rewrite(load, whole_warps));
  EXPECT_FALSE(rewrite(load, {48, 1, 1}));
}

// Ways that part and meet again before anybody waits or ends part nobody.
TEST(TaskBody, DoesNotDrainWhereWaysRejoinBeforeABarrier) {
  EXPECT_FALSE(
      drops_out("setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra skip;\nadd.u32 %r3, %r2, 1;\nskip:\n"
                "setp.eq.u32 %p2, %r1, 7;\n@%p2 bra done;\nbar.sync 0;\ndone:",
                whole_warps));
}

// What a call returns lies in the space of parameters, and may differ between threads.
TEST(TaskBody, DrainsWhereACallTellsThreadsToEnd) {
  const auto module = ptx::parse(
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".func (.param .b32 result) own()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %tid.x;\n"
      "st.param.b32 [result], %r1;\nret;\n}\n"
      ".visible .entry k()\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\n"
      "{\n.param .b32 got;\ncall (got), own, ();\nld.param.b32 %r1, [got];\n}\n"
      "setp.eq.u32 %p1, %r1, 3;\n@%p1 ret;\nbar.sync 0;\nret;\n}\n");
  ASSERT_TRUE(module) << module.error().line();
  const Result<TaskBody> body = rewrite_body(*module, "k", whole_warps, "b_");
  ASSERT_TRUE(body) << body.error().line();
  EXPECT_TRUE(body->drops_out);
}

// ptxas divides by a constant as by a register.
TEST(TaskBody, FindsAThreadsPlaceWithoutDivisions) {
  for (const Dim3& block : {Dim3{8, 4, 2}, Dim3{6, 3, 5}}) {
    const auto body =
        rewrite("mov.u32 %r3, %tid.x;\nmov.u32 %r4, %tid.y;\nmov.u32 %r5, %tid.z;", block);
    ASSERT_TRUE(body) << body.error().line();
    for (const ptx::ModuleItem& item : body->items) {
      ptx::for_each_instruction(std::get<ptx::Function>(item).body, [](const auto& here) {
        EXPECT_NE(here.opcode, ptx::Opcode::div);
        EXPECT_NE(here.opcode, ptx::Opcode::rem);
      });
    }
  }
}

TEST(TaskBody, SaysWhichBlocksNeedNoBarrierBetweenThem) {
  EXPECT_TRUE(rewrite("", whole_warps)->beside.is_independent);
  EXPECT_FALSE(rewrite("bar.sync 0;", whole_warps)->beside.is_independent);
}

std::string one_at_a_time(const std::string& statements, const Dim3& block) {
  const Result<TaskBody> body = rewrite(statements, block);
  EXPECT_TRUE(body) << body.error().line();
  EXPECT_EQ(body->beside.is_possible, body->one_at_a_time.empty());
  EXPECT_EQ(body->group_items.empty(), !body->beside.is_possible);
  return body->one_at_a_time;
}

TEST(TaskBody, SaysWhyItsBlocksRunOneAtATime) {
  EXPECT_EQ(one_at_a_time("", whole_warps), "");
  EXPECT_EQ(one_at_a_time("bar.sync 0;\nbarrier.sync 6;", whole_warps), "");
  EXPECT_EQ(one_at_a_time("bar.sync 14;", {32, 1, 1}), "");
  EXPECT_THAT(one_at_a_time("bar.sync 7;", whole_warps), HasSubstr("more barriers"));
  EXPECT_EQ(one_at_a_time("", {512, 1, 1}), "");
  EXPECT_THAT(one_at_a_time("", {513, 1, 1}), HasSubstr("twice as wide"));
  EXPECT_EQ(one_at_a_time("", {48, 1, 1}), "");
  EXPECT_THAT(one_at_a_time("bar.sync 0;", {48, 1, 1}), HasSubstr("no whole warps"));
  EXPECT_THAT(one_at_a_time(early_end, whole_warps), HasSubstr("end before"));
}

// Where lanes take turns a warp that waits for another block would keep its worker's other warps
// from running that.
TEST(TaskBody, RunsBlocksThatMayWaitForOthersOneAtATime) {
  for (const char* looks :
       {"ld.volatile.global.u32 %r3, [%r2];", "ld.relaxed.gpu.global.u32 %r3, [%r2];",
        "ld.acquire.gpu.global.u32 %r3, [%r2];",
        "atom.global.cas.b32 %r3, [%r2], 0, 1;\nst.global.u32 [%r2], %r3;"})
    EXPECT_THAT(one_at_a_time(looks, whole_warps), HasSubstr("wait for each other")) << looks;
  for (const char* does_not :
       {"ld.global.u32 %r3, [%r2];", "ld.volatile.shared.u32 %r3, [%r2];",
        "atom.global.add.u32 %r3, [%r2], 1;", "red.global.add.u32 [%r2], 1;", "membar.gl;",
        "atom.shared.cas.b32 %r3, [%r2], 0, 1;\nst.global.u32 [%r2], %r3;"})
    EXPECT_EQ(one_at_a_time(does_not, whole_warps), "") << does_not;
}

TEST(SideBySide, HasBarriersForEachBlockBesideTheSchedulers) {
  const auto body = rewrite("bar.sync 0;\nbar.sync 1;", whole_warps);
  ASSERT_TRUE(body) << body.error().line();
  EXPECT_EQ(body->beside.most(64), 1U);
  EXPECT_EQ(body->beside.most(128), 1U);  // which has two beside the scheduler's
  EXPECT_EQ(body->beside.most(256), 2U);  // which has five
  EXPECT_EQ(body->beside.most(512), 5U);
  EXPECT_EQ(body->beside.most(1024), 7U);
  EXPECT_EQ(rewrite("bar.sync 0;", whole_warps)->beside.most(256), 4U);
  EXPECT_EQ(rewrite("", whole_warps)->beside.most(1024), 16U);
  // Blocks of one warp have no need of them, but where they reduce.
  EXPECT_EQ(rewrite("bar.sync 0;\nbarrier.sync 1, 32;", {32, 1, 1})->beside.most(256), 8U);
  EXPECT_EQ(rewrite("barrier.red.or.pred %p1, 0, %p2;", {32, 1, 1})->beside.most(256), 5U);
}

}  // namespace
}  // namespace sluice::megakernel
