// Which bodies must leave lanes that have ended out of exchanges in their warp.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "megakernel/statements_body.hpp"

namespace sluice::megakernel {
namespace {

using testing::whole_warps;

bool meets_lanes(const std::string& statements, const Dim3& block = whole_warps) {
  const Result<TaskBody> body = testing::rewrite_statements(statements, block);
  EXPECT_TRUE(body) << body.error().line();
  return body && body->meets_lanes;
}

const std::string shuffle = "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\n";
const std::string first_warp = "setp.gt.u32 %p1, %r2, 31;\n@%p1 bra done;\n" + shuffle + "done:";

TEST(WarpExchanges, NameNoEndedLaneWhereAllComeToThem) {
  EXPECT_FALSE(meets_lanes(shuffle));
  EXPECT_FALSE(meets_lanes(first_warp));
  // Ways that part and meet again before the exchange part nobody.
  EXPECT_FALSE(
      meets_lanes("setp.ge.u32 %p2, %r2, %r1;\n@%p2 bra skip;\nadd.u32 %r4, %r2, 1;\n"
                  "skip:\n" +
                  first_warp));
  EXPECT_FALSE(meets_lanes(shuffle + "setp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;"));
}

// Of the lanes that meet at elect one alone has a true predicate.
TEST(WarpExchanges, MayNameTheLaneThatWasElectedAndEnds) {
  EXPECT_TRUE(meets_lanes("elect.sync %r3|%p1, -1;\n@%p1 ret;\n" + shuffle));
}

// What a register holds later, where lanes have parted, says nothing of what it held before.
TEST(WarpExchanges, AreKnownWhereRegistersAreUsedAgain) {
  const std::string rounds =
      "loop: " + shuffle + "shr.u32 %r6, %r6, 1;\nsetp.ne.u32 %p3, %r6, 0;\n@%p3 bra loop;\n";
  EXPECT_FALSE(meets_lanes("mov.u32 %r6, %r1;\n" + rounds +
                           "setp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\nadd.u32 %r6, %r2, 1;"));
  EXPECT_TRUE(
      meets_lanes("mov.u32 %r6, %r1;\nsetp.ge.u32 %p1, %r2, %r1;\n@%p1 bra skip;\n"
                  "add.u32 %r6, %r1, 1;\nskip:\n" +
                  rounds));
  EXPECT_TRUE(meets_lanes("mov.u32 %r6, %r1;\nsetp.ge.u32 %p1, %r2, %r1;\n@%p1 mov.u32 %r6, 9;\n" +
                          rounds));
}

TEST(WarpExchanges, MayNameLanesThatEndBefore) {
  EXPECT_TRUE(meets_lanes("setp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\n" + shuffle));
  EXPECT_TRUE(meets_lanes("setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra done;\n" + shuffle + "done:"));
  // Between two exchanges.
  EXPECT_TRUE(meets_lanes(shuffle + "setp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\n" + shuffle));
  // A lane that leaves the loop early ends while others still exchange values.
  EXPECT_TRUE(meets_lanes("mov.u32 %r5, %r2;\nloop: " + shuffle +
                          "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r1;\n@%p1 bra loop;"));
  // Under a guard an exchange is passed by.
  EXPECT_TRUE(meets_lanes("setp.ge.u32 %p1, %r2, %r1;\n@%p1 " + shuffle));
}

// Half a warp exchanges and ends; the others name all lanes.
TEST(WarpExchanges, MayNameLanesThatTookPartInAnotherOne) {
  EXPECT_TRUE(
      meets_lanes("setp.lt.u32 %p1, %r2, 16;\n@!%p1 bra upper;\n"
                  "shfl.sync.bfly.b32 %r3, %r2, 1, 31, 0xffff;\nret;\nupper:\n" +
                  shuffle));
}

TEST(WarpExchanges, MayNameLanesThatTheBlockDoesNotHave) {
  EXPECT_TRUE(meets_lanes(shuffle, {48, 1, 1}));
  EXPECT_FALSE(meets_lanes("activemask.b32 %r3;", {48, 1, 1}));
}

// The place in the block as cooperative groups compute it: (z * height + y) * width + x.
const std::string rank_in_block =
    "mov.u32 %r13, %tid.y;\nmov.u32 %r14, %tid.z;\nmov.u32 %r15, %ntid.y;\n"
    "mov.u32 %r16, %ntid.x;\nmad.lo.s32 %r17, %r14, %r15, %r13;\n"
    "mad.lo.s32 %r18, %r17, %r16, %r2;\n";
const std::string first_by_rank =
    "setp.gt.u32 %p1, %r18, 31;\n@%p1 bra done;\n" + shuffle + "done:";

TEST(WarpExchanges, OfTheFirstWarpByRankAreKnown) {
  EXPECT_FALSE(meets_lanes(rank_in_block + first_by_rank));
  // In two dimensions the rank is a sum, and nothing is known of it.
  EXPECT_TRUE(meets_lanes(rank_in_block + first_by_rank, {8, 8, 1}));
  // What is added is zero on one way and an exchanged value on another.
  EXPECT_TRUE(
      meets_lanes("mov.u32 %r7, 0;\nsetp.eq.u32 %p3, %r1, 0;\n@%p3 bra skip;\n"
                  "shfl.sync.bfly.b32 %r7|%p2, %r2, 1, 31, -1;\nskip:\n"
                  "add.s32 %r18, %r2, %r7;\n" +
                  first_by_rank));
}

TEST(WarpExchanges, BehindABranchThatTheWholeWarpVotedForAreKnown) {
  const auto behind = [](const std::string& vote) {
    return meets_lanes("setp.ge.u32 %p1, %r2, %r1;\n" + vote + "\n@%p2 ret;\n" + shuffle);
  };
  EXPECT_FALSE(behind("vote.sync.any.pred %p2, %p1, -1;"));
  EXPECT_FALSE(behind("vote.sync.ballot.b32 %r5, %p1, -1;\nsetp.eq.u32 %p2, %r5, 0;"));
  EXPECT_FALSE(behind("shfl.sync.idx.b32 %r5, %r2, 0, 31, -1;\nsetp.eq.u32 %p2, %r5, 0;"));
  // Each half of the warp has a vote, and each row a lane, of its own.
  EXPECT_TRUE(behind("mov.u32 %r6, 0xffff;\nvote.sync.any.pred %p2, %p1, %r6;"));
  EXPECT_TRUE(behind("shfl.sync.idx.b32 %r5, %r2, 0, 0x181f, -1;\nsetp.eq.u32 %p2, %r5, 0;"));
  EXPECT_TRUE(behind("shfl.sync.idx.b32 %r5, %r2, %r2, 31, -1;\nsetp.eq.u32 %p2, %r5, 0;"));
}

// A mask that its lanes made together names only lanes that were there.
const std::string early_end = "setp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\n";
const std::string by_mask = "shfl.sync.bfly.b32 %r3, %r2, 1, 31, %r5;\n";

TEST(WarpExchanges, OfActiveLanesAreKnown) {
  EXPECT_FALSE(meets_lanes(early_end + "activemask.b32 %r5;\n" + by_mask));
  EXPECT_FALSE(meets_lanes(early_end + "activemask.b32 %r6;\nand.b32 %r5, %r1, %r6;\n" + by_mask));
  // In a loop that lanes leave at different turns, each turn has a mask of its own.
  const std::string next_turn = "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, %r1;\n@%p2 bra loop;";
  EXPECT_FALSE(meets_lanes("loop: activemask.b32 %r5;\n" + by_mask + next_turn));
  EXPECT_TRUE(meets_lanes("activemask.b32 %r5;\nloop: " + by_mask + next_turn));
}

TEST(WarpExchanges, OfLanesThatWereActiveAndEndAreNot) {
  EXPECT_TRUE(meets_lanes("activemask.b32 %r5;\n" + early_end + by_mask));
  // Which mask it is depends on the way.
  EXPECT_TRUE(meets_lanes(early_end +
                          "mov.u32 %r5, -1;\nsetp.eq.u32 %p2, %r1, 9;\n"
                          "@%p2 bra skip;\nactivemask.b32 %r5;\nskip:\n" +
                          by_mask));
}

TEST(WarpExchanges, OfThoseWhoVotedForTheirWayAreKnown) {
  const std::string ballot = "setp.lt.u32 %p1, %r2, %r1;\nvote.sync.ballot.b32 %r5, %p1, -1;\n";
  EXPECT_FALSE(meets_lanes(ballot + "@!%p1 ret;\n" + by_mask));
  // The branch may be by the opposite comparison.
  EXPECT_FALSE(meets_lanes("setp.ge.u32 %p2, %r2, %r1;\n" + ballot + "@%p2 ret;\n" + by_mask));
  // What is compared may have come on several ways, but must be the same in both.
  const std::string bound =
      "mov.u32 %r6, 1;\nsetp.eq.u32 %p4, %r1, 9;\n@%p4 bra skip;\nmov.u32 %r6, 2;\nskip:\n"
      "setp.ge.u32 %p2, %r2, %r6;\n";
  const std::string by_bound =
      "setp.lt.u32 %p1, %r2, %r6;\nvote.sync.ballot.b32 %r5, %p1, -1;\n@%p2 ret;\n" + by_mask;
  EXPECT_FALSE(meets_lanes(bound + by_bound));
  EXPECT_TRUE(meets_lanes(bound + "add.u32 %r6, %r6, 1;\n" + by_bound));
  // All who voted take the turns of a loop together, as many as a parameter says.
  EXPECT_FALSE(meets_lanes("mov.u32 %r6, %r1;\n" + ballot + "@!%p1 bra done;\nloop: " + by_mask +
                           "shr.u32 %r6, %r6, 1;\nsetp.ne.u32 %p3, %r6, 0;\n"
                           "@%p3 bra loop;\ndone:"));
  // By another predicate, or by one that has changed since.
  EXPECT_TRUE(meets_lanes(ballot + "setp.lt.u32 %p2, %r2, 7;\n@!%p2 ret;\n" + by_mask));
  EXPECT_TRUE(meets_lanes(ballot + "setp.lt.u32 %p1, %r2, 7;\n@!%p1 ret;\n" + by_mask));
  // Values of floats may compare neither way.
  EXPECT_TRUE(
      meets_lanes("setp.ge.f32 %p2, %r2, %r1;\nsetp.lt.f32 %p1, %r2, %r1;\n"
                  "vote.sync.ballot.b32 %r5, %p1, -1;\n@%p2 ret;\n" +
                  by_mask));
}

// What lanes of a vote carry from an earlier turn, in which they voted otherwise, may differ.
TEST(WarpExchanges, OfVotersInALoopMayNameLanesThatEnd) {
  EXPECT_TRUE(
      meets_lanes("mov.u32 %r6, 0;\nloop:\nsetp.lt.u32 %p1, %r2, %r1;\n"
                  "vote.sync.ballot.b32 %r5, %p1, -1;\n@!%p1 bra other;\n"
                  "setp.eq.u32 %p2, %r6, 3;\n@%p2 ret;\n" +
                  by_mask +
                  "mov.u32 %r6, 3;\nother:\nadd.u32 %r2, %r2, 1;\n"
                  "setp.lt.u32 %p3, %r6, %r1;\n@%p3 bra loop;"));
}

TEST(WarpExchanges, OfACalledFunctionMayNameLanesThatReturn) {
  const auto body_of = [](const char* in_callee, const char* in_kernel) {
    const auto module = ptx::parse(
        fmt::format(".version 7.0\n.target sm_75\n.address_size 64\n"
                    ".func sum(.param .b32 n)\n{{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n"
                    "ld.param.u32 %r1, [n];\nsetp.eq.u32 %p1, %r1, 0;\n{}\n"
                    "shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1;\nret;\n}}\n"
                    ".visible .entry k(.param .u32 n)\n{{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n"
                    "mov.u32 %r2, %tid.x;\nld.param.u32 %r1, [n];\nsetp.ge.u32 %p1, %r2, %r1;\n"
                    "{}\n{{\n.param .b32 a;\nst.param.b32 [a], %r2;\ncall sum, (a);\n}}\n"
                    "ret;\n}}\n",
                    in_callee, in_kernel));
    EXPECT_TRUE(module) << module.error().line();
    return rewrite_body(*module, "k", whole_warps, "b_")->meets_lanes;
  };
  EXPECT_FALSE(body_of("", ""));
  EXPECT_TRUE(body_of("@%p1 ret;", ""));
  EXPECT_TRUE(body_of("", "@%p1 ret;"));
}

// Lanes that are known to be in one place need nothing; a block that keeps states of lanes, or asks
// who is active, must not run beside the next one.
TEST(WarpExchanges, KeepBlocksApartWhereTheyMust) {
  EXPECT_TRUE(testing::rewrite_statements(shuffle, whole_warps)->beside.is_independent);
  EXPECT_FALSE(
      testing::rewrite_statements(early_end + shuffle, whole_warps)->beside.is_independent);
  EXPECT_FALSE(
      testing::rewrite_statements("activemask.b32 %r3;", whole_warps)->beside.is_independent);
}

}  // namespace
}  // namespace sluice::megakernel
