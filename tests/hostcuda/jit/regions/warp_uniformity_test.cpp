// Which values of small functions are the same for the lanes of each warp.
#include "hostcuda/jit/regions/divergent_names.hpp"

namespace sluice::hostcuda::jit {
namespace {

// Values whose name begins with "warp" are told to be the same in each warp.
Names divergent_in_warps(const std::string& blocks) {
  return divergent_names(blocks, [](llvm::Function& function) {
    return Uniformity::of_warps(function, [](const llvm::Instruction& instruction) {
      return instruction.getName().starts_with("warp");
    });
  });
}

TEST(JitWarpUniformity, EndsAtWhatAWarpShares) {
  EXPECT_EQ(divergent_in_warps("entry:\n"
                               "  %warp = lshr i32 %t, 5\n"
                               "  %lane = and i32 %t, 31\n"
                               "  %a = add i32 %warp, %n\n"
                               "  %b = add i32 %lane, %a\n"
                               "  %c = icmp slt i32 %a, 7\n"
                               "  br i1 %c, label %then, label %end\n"
                               "then:\n"
                               "  br label %end\n"
                               "end:\n"
                               "  %x = phi i32 [ 0, %entry ], [ %a, %then ]\n"
                               "  ret void\n"),
            (Names{"lane", "b"}));
}

// A cycle with two ways in, one of which begins at `first`, behind a branch by `condition`.
std::string cycle_with_two_ways_in(const std::string& condition) {
  return "entry:\n"
         "  %warp = lshr i32 %t, 5\n" +
         condition +
         "  br i1 %c, label %there, label %first\n"
         "first:\n"
         "  br label %again\n"
         "again:\n"
         "  %x = phi i32 [ 1, %first ], [ %x.next, %there ]\n"
         "  br label %there\n"
         "there:\n"
         "  %y = phi i32 [ %n, %entry ], [ %x, %again ]\n"
         "  %x.next = add i32 %y, %warp\n"
         "  %d = icmp slt i32 %x.next, %n\n"
         "  br i1 %d, label %again, label %end\n"
         "end:\n"
         "  ret void\n";
}

TEST(JitWarpUniformity, HoldsInACycleThatAWarpEntersTogether) {
  EXPECT_EQ(divergent_in_warps(cycle_with_two_ways_in("  %c = icmp eq i32 %warp, 0\n")), Names{});
}

TEST(JitWarpUniformity, IsLostInACycleThatLanesEnterApart) {
  EXPECT_EQ(divergent_in_warps(cycle_with_two_ways_in("  %c = icmp eq i32 %t, 0\n")),
            (Names{"c", "entry", "x", "y", "x.next", "d", "there"}));
}

// Some lanes end before the barrier that all others come to, and then go round together.
TEST(JitWarpUniformity, ComesBackAtABarrierThatAllComeTo) {
  EXPECT_EQ(divergent_in_warps("entry:\n"
                               "  %c = icmp eq i32 %t, 0\n"
                               "  br i1 %c, label %one, label %other\n"
                               "one:\n"
                               "  %e = icmp eq i32 %n, 0\n"
                               "  br i1 %e, label %end, label %together\n"
                               "other:\n"
                               "  br label %together\n"
                               "together:\n"
                               "  call void @llvm.nvvm.barrier0()\n"
                               "  %f = icmp eq i32 %n, 1\n"
                               "  br i1 %f, label %left, label %right\n"
                               "left:\n"
                               "  br label %right\n"
                               "right:\n"
                               "  %x = phi i32 [ 0, %together ], [ 1, %left ]\n"
                               "  br label %end\n"
                               "end:\n"
                               "  ret void\n"),
            (Names{"c", "entry"}));
}

// Lanes that wait at another barrier, or at none, are still apart behind it.
TEST(JitWarpUniformity, StaysLostBehindABarrierThatNotAllComeTo) {
  EXPECT_EQ(divergent_in_warps("entry:\n"
                               "  %c = icmp eq i32 %t, 0\n"
                               "  br i1 %c, label %one, label %join\n"
                               "one:\n"
                               "  call void @llvm.nvvm.barrier0()\n"
                               "  br label %join\n"
                               "join:\n"
                               "  %x = phi i32 [ 0, %entry ], [ 1, %one ]\n"
                               "  call void @llvm.nvvm.barrier0()\n"
                               "  ret void\n"),
            (Names{"c", "entry", "x"}));
}

}  // namespace
}  // namespace sluice::hostcuda::jit
