// Operations of a warp under a branch of some threads: lifted where all of them may come, and with
// the results that they have there.
#include "hostcuda/jit/regions/lifted_points.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/IR/Verifier.h>

#include "hostcuda/jit/block_function.hpp"
#include "hostcuda/jit/regions/regions.hpp"
#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

enum class Together { no, yes };

// lifted() tells whether threads of a function with these blocks, of which some part by %c, stay
// together once its points are lifted; nothing where none is. %t is a thread's number.
std::optional<Together> lifted(const std::string& blocks) {
  const jit::BlockFunction parsed(
      "declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)\n"
      "declare i1 @llvm.nvvm.vote.uni.sync(i32, i1)\n"
      "declare void @sluice.meeting()\n",
      "ptr %p", "entry:\n  %c = icmp ult i32 %t, %n\n" + blocks);
  if (parsed.get() == nullptr) return std::nullopt;
  llvm::Function& function = *parsed.get();
  if (!jit::lift_points(function)) return std::nullopt;
  EXPECT_FALSE(llvm::verifyFunction(function));
  jit::KernelContext context;
  context.block = {64};
  const std::vector<jit::SyncPoint> points = jit::split_at_sync_points(function, context);
  const jit::RegionPlan plan =
      jit::plan_regions(function, points, jit::Uniformity(function, points));
  return plan.structured && !plan.early_exits ? Together::yes : Together::no;
}

const std::string shuffle = "call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t, i32 1, i32 31)";

TEST(LiftPoints, TakesThemOutOfABranch) {
  EXPECT_EQ(lifted("  br i1 %c, label %then, label %end\n"
                   "then:\n"
                   "  %a = " +
                   shuffle + "\n" +
                   "  %b = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %a, i32 2, i32 31)\n"
                   "  store i32 %b, ptr %p\n"
                   "  br label %end\n"
                   "end:\n"
                   "  ret void\n"),
            Together::yes);
}

TEST(LiftPoints, TakesThemOutOfBranchesInBranchesAndInLoops) {
  EXPECT_EQ(lifted("  br label %loop\n"
                   "loop:\n"
                   "  %i = phi i32 [0, %entry], [%next, %join]\n"
                   "  br i1 %c, label %then, label %else\n"
                   "then:\n"
                   "  %d = icmp eq i32 %t, %i\n"
                   "  br i1 %d, label %inner, label %after\n"
                   "inner:\n"
                   "  %a = " +
                   shuffle + "\n" +
                   "  br label %after\n"
                   "after:\n"
                   "  %b = phi i32 [%a, %inner], [%i, %then]\n"
                   "  br label %join\n"
                   "else:\n"
                   "  %e = add i32 %t, %i\n"
                   "  br label %join\n"
                   "join:\n"
                   "  %v = phi i32 [%b, %after], [%e, %else]\n"
                   "  store i32 %v, ptr %p\n"
                   "  %next = add i32 %i, 1\n"
                   "  %more = icmp ult i32 %next, %n\n"
                   "  br i1 %more, label %loop, label %end\n"
                   "end:\n"
                   "  ret void\n"),
            Together::yes);
}

// What a loop before the point leaves is not there for threads that did not come.
TEST(LiftPoints, CarriesWhatLoopsLeavePastThem) {
  EXPECT_EQ(lifted("  br i1 %c, label %before, label %end\n"
                   "before:\n"
                   "  br label %loop\n"
                   "loop:\n"
                   "  %i = phi i32 [0, %before], [%next, %join]\n"
                   "  %d = icmp ult i32 %i, %t\n"
                   "  br i1 %d, label %inner, label %join\n"
                   "inner:\n"
                   "  br label %join\n"
                   "join:\n"
                   "  %k = phi i32 [%i, %inner], [%t, %loop]\n"
                   "  %next = add i32 %i, 1\n"
                   "  %more = icmp ult i32 %next, %n\n"
                   "  br i1 %more, label %loop, label %then\n"
                   "then:\n"
                   "  %a = " +
                   shuffle + "\n" +
                   "  br label %end\n"
                   "end:\n"
                   "  %v = phi i32 [%a, %then], [0, %entry]\n"
                   "  %w = phi i32 [%k, %then], [1, %entry]\n"
                   "  %s = add i32 %v, %w\n"
                   "  store i32 %s, ptr %p\n"
                   "  ret void\n"),
            Together::yes);
}

// All lanes that take the branch read a word before any writes it.
TEST(LiftPoints, TakesOutMeetingsOfThoseThatComeByChance) {
  EXPECT_EQ(lifted("  br i1 %c, label %then, label %end\n"
                   "then:\n"
                   "  %v = load i32, ptr %p\n"
                   "  %w = add i32 %v, %t\n"
                   "  call void @sluice.meeting()\n"
                   "  store i32 %w, ptr %p\n"
                   "  br label %end\n"
                   "end:\n"
                   "  ret void\n"),
            Together::yes);
}

TEST(LiftPoints, LeavesThoseOfALoopUnderTheBranch) {
  EXPECT_EQ(lifted("  br i1 %c, label %loop, label %end\n"
                   "loop:\n"
                   "  %i = phi i32 [0, %entry], [%a, %loop]\n"
                   "  %a = " +
                   shuffle + "\n" +
                   "  %more = icmp ult i32 %a, %n\n"
                   "  br i1 %more, label %loop, label %end\n"
                   "end:\n"
                   "  ret void\n"),
            std::nullopt);
}

TEST(LiftPoints, LeavesThoseOfBothPaths) {
  EXPECT_EQ(lifted("  br i1 %c, label %then, label %else\n"
                   "then:\n"
                   "  %a = " +
                   shuffle + "\n" +
                   "  br label %end\n"
                   "else:\n"
                   "  %b = " +
                   shuffle + "\n" +
                   "  br label %end\n"
                   "end:\n"
                   "  ret void\n"),
            std::nullopt);
}

TEST(LiftPoints, LeavesVotesThatOthersWouldChange) {
  EXPECT_EQ(lifted("  br i1 %c, label %then, label %end\n"
                   "then:\n"
                   "  %a = call i1 @llvm.nvvm.vote.uni.sync(i32 -1, i1 %c)\n"
                   "  br label %end\n"
                   "end:\n"
                   "  ret void\n"),
            std::nullopt);
}

// Threads below `limit` sum their warp's values below it, by shuffles and votes, and the others
// take three times their own.
constexpr const char* kernel = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 values, .param .u32 limit) {
.reg .b32 %t, %v, %u, %limit;
.reg .b64 %p, %o;
.reg .pred %above, %odd, %all;
mov.u32 %t, %tid.x;
ld.param.u64 %p, [values];
ld.param.u32 %limit, [limit];
mul.wide.u32 %o, %t, 4;
add.u64 %p, %p, %o;
ld.global.u32 %v, [%p];
setp.ge.u32 %above, %t, %limit;
@%above bra ABOVE;
shfl.sync.bfly.b32 %u, %v, 16, 31, 0xffffffff;
add.u32 %v, %v, %u;
setp.ne.u32 %odd, %u, 0;
vote.sync.all.pred %all, %odd, 0xffffffff;
selp.u32 %u, 1000, 0, %all;
add.u32 %v, %v, %u;
vote.sync.ballot.b32 %u, %odd, 0xffffffff;
popc.b32 %u, %u;
add.u32 %v, %v, %u;
shfl.sync.down.b32 %u, %v, 1, 31, 0xffffffff;
add.u32 %v, %v, %u;
bra DONE;
ABOVE:
mul.lo.u32 %v, %v, 3;
DONE:
st.global.u32 [%p], %v;
exit;
})";

uint32_t value_of(uint32_t thread) {
  return thread % 5 == 0 && thread < 32 ? 0 : thread + 1;
}

uint32_t expected(uint32_t thread, uint32_t limit, uint32_t threads) {
  if (thread >= limit) return 3 * value_of(thread);
  const uint32_t first = thread & ~31U;
  const uint32_t last = std::min({first + 32, limit, threads});
  std::vector<uint32_t> sums(33);
  uint32_t ballot = 0;
  for (uint32_t lane = 0; first + lane < last; ++lane) {
    const uint32_t partner = first + (lane ^ 16U);
    const uint32_t brought = partner < last ? value_of(partner) : 0;
    sums[lane] = value_of(first + lane) + brought;
    if (brought != 0) ballot |= 1U << lane;
  }
  const uint32_t there = last - first;
  const bool all = std::popcount(ballot) == static_cast<int>(there);
  for (uint32_t lane = 0; lane < there; ++lane)
    sums[lane] += (all ? 1000 : 0) + static_cast<uint32_t>(std::popcount(ballot));
  const uint32_t lane = thread - first;
  return sums[lane] + (lane == 31 ? sums[31] : sums[lane + 1]);
}

TEST(LiftPoints, GiveThoseWhoComeWhatTheyHaveThere) {
  Kernels kernels(compile_text(kernel));
  for (const uint32_t threads : {32U, 96U, 256U}) {
    for (const uint32_t limit : {0U, 32U, 64U, 256U}) {
      std::vector<uint32_t> values(threads);
      for (uint32_t t = 0; t < threads; ++t)
        values[t] = value_of(t);
      kernels.run("k", {1}, {threads}, 0, values.data(), limit);
      for (uint32_t t = 0; t < threads; ++t)
        ASSERT_EQ(values[t], expected(t, limit, threads))
            << t << " of " << threads << ", " << limit;
    }
  }
}

}  // namespace
}  // namespace sluice::hostcuda
