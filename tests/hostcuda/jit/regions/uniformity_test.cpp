// Which values of small functions are the same for all threads.
#include "hostcuda/jit/regions/uniformity.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "hostcuda/jit/regions/divergent_names.hpp"

namespace sluice::hostcuda::jit {
namespace {

// divergent() names what differs between the threads of a function with these blocks. In a block
// named "cut" threads wait for each other.
Names divergent(const std::string& blocks) {
  return divergent_names(blocks, [](llvm::Function& function) {
    std::vector<SyncPoint> points;
    for (llvm::BasicBlock& block : function) {
      if (block.getName() == "cut") points.emplace_back().block = &block;
    }
    return Uniformity(function, points);
  });
}

TEST(JitUniformity, FollowsValues) {
  EXPECT_EQ(divergent("entry:\n"
                      "  %a = add i32 %t, %n\n"
                      "  %b = add i32 %n, %cx\n"
                      "  %c = load i32, ptr %p\n"
                      "  %d = load volatile i32, ptr %p\n"
                      "  %q = getelementptr i32, ptr %p, i32 %a\n"
                      "  %e = load i32, ptr %q\n"
                      "  %l = alloca i32\n"
                      "  %g = load i32, ptr %l\n"
                      "  ret void\n"),
            (Names{"a", "d", "q", "e", "l", "g"}));
}

TEST(JitUniformity, TellsThreadsApartThatCameDifferentWays) {
  EXPECT_EQ(divergent("entry:\n"
                      "  %c = icmp slt i32 %t, %n\n"
                      "  br i1 %c, label %then, label %join\n"
                      "then:\n"
                      "  %v = load i32, ptr %p\n"
                      "  br label %join\n"
                      "join:\n"
                      "  %x = phi i32 [ 1, %entry ], [ %v, %then ]\n"
                      "  %same = phi i32 [ 1, %entry ], [ 1, %then ]\n"
                      "  ret void\n"),
            (Names{"c", "entry", "x"}));
}

// A value that only some threads have is no value of all.
TEST(JitUniformity, TellsThreadsApartOfWhichSomeHaveNothing) {
  EXPECT_EQ(divergent("entry:\n"
                      "  %c = icmp slt i32 %t, %n\n"
                      "  br i1 %c, label %then, label %join\n"
                      "then:\n"
                      "  %v = load i32, ptr %p\n"
                      "  br label %join\n"
                      "join:\n"
                      "  %x = phi i32 [ undef, %entry ], [ %v, %then ]\n"
                      "  %same = phi i32 [ %n, %entry ], [ %n, %then ]\n"
                      "  ret void\n"),
            (Names{"c", "entry", "x"}));
}

// A loop under a condition has the same counter for all threads that are in it.
TEST(JitUniformity, KeepsTheCounterOfALoopThatSomeThreadsEnter) {
  const std::string rest =
      "  br i1 %c, label %loop, label %join\n"
      "loop:\n"
      "  %k = phi i32 [ 0, %entry ], [ %next, %loop ]\n"
      "  %next = add i32 %k, 1\n"
      "  %more = icmp slt i32 %next, %bound\n"
      "  br i1 %more, label %loop, label %join\n"
      "join:\n"
      "  %x = phi i32 [ 7, %entry ], [ %next, %loop ]\n"
      "  ret void\n";
  EXPECT_EQ(divergent("entry:\n  %bound = add i32 %n, 1\n  %c = icmp slt i32 %t, %n\n" + rest),
            (Names{"c", "entry", "x"}));
  // Left in different rounds: what comes out differs, the counter inside does not.
  EXPECT_EQ(divergent("entry:\n  %bound = add i32 %t, 1\n  %c = icmp slt i32 0, %n\n" + rest),
            (Names{"bound", "more", "loop", "next", "x"}));
}

// Arms that branch themselves before the threads meet.
TEST(JitUniformity, TellsThreadsApartAfterArmsThatBranch) {
  const Names names = divergent(
      "entry:\n"
      "  %c = icmp ult i32 %t, 7\n"
      "  %u = icmp sgt i32 %n, 17\n"
      "  %w = icmp eq i32 %t, 0\n"
      "  br i1 %c, label %left, label %right\n"
      "right:\n"
      "  br i1 %u, label %right.end, label %right.more\n"
      "right.more:\n"
      "  br label %right.end\n"
      "right.end:\n"
      "  br label %join\n"
      "left:\n"
      "  br i1 %u, label %left.end, label %left.more\n"
      "left.more:\n"
      "  br i1 %w, label %left.most, label %left.last\n"
      "left.last:\n"
      "  br label %left.most\n"
      "left.most:\n"
      "  br label %left.end\n"
      "left.end:\n"
      "  %y = phi i32 [ 3, %left ], [ 4, %left.most ]\n"
      "  br i1 %u, label %left.out, label %left.rest\n"
      "left.rest:\n"
      "  br label %left.out\n"
      "left.out:\n"
      "  br label %join\n"
      "join:\n"
      "  %x = phi i32 [ 2, %left.out ], [ 10, %right.end ]\n"
      "  ret void\n");
  EXPECT_EQ(names, (Names{"c", "w", "entry", "left.more", "x"}));
}

// Arms with loops, inside a loop that carries what they chose. LLVM 19's own analysis
// (UniformityAnalysis) takes %x for uniform.
TEST(JitUniformity, TellsThreadsApartAfterArmsWithLoops) {
  const Names names = divergent(
      "entry:\n"
      "  br label %outer\n"
      "outer:\n"
      "  %i = phi i32 [ 1, %entry ], [ %i.next, %latch ]\n"
      "  %old = phi i32 [ 6, %entry ], [ %x, %latch ]\n"
      "  %c = icmp slt i32 %i, %t\n"
      "  br i1 %c, label %a, label %b\n"
      "b:\n"
      "  %d = icmp slt i32 %t, %n\n"
      "  br i1 %d, label %b.loop, label %b.after\n"
      "b.loop:\n"
      "  %o = phi i32 [ 0, %b ], [ %o.next, %b.loop ]\n"
      "  %o.next = add i32 %o, 128\n"
      "  %sum = add i32 %o, %t\n"
      "  %e = icmp slt i32 %sum, %n\n"
      "  br i1 %e, label %b.loop, label %b.after\n"
      "b.after:\n"
      "  br label %b.last\n"
      "b.last:\n"
      "  %k = phi i32 [ 0, %b.after ], [ %k.next, %b.last ]\n"
      "  %k.next = add i32 %k, 1\n"
      "  %f = icmp ult i32 %k, 11\n"
      "  br i1 %f, label %b.last, label %join\n"
      "a:\n"
      "  br label %a.loop\n"
      "a.loop:\n"
      "  %q = phi i32 [ 1, %a ], [ %q.next, %a.loop ]\n"
      "  %q.next = add i32 %q, 2\n"
      "  %g = icmp slt i32 %q.next, %t\n"
      "  br i1 %g, label %a.loop, label %join\n"
      "join:\n"
      "  %x = phi i32 [ 12, %b.last ], [ %old, %a.loop ]\n"
      "  br label %latch\n"
      "latch:\n"
      "  %i.next = add i32 %i, 3\n"
      "  %h = icmp slt i32 %i.next, %n\n"
      "  br i1 %h, label %outer, label %end\n"
      "end:\n"
      "  ret void\n");
  EXPECT_EQ(names,
            (Names{"c", "d", "e", "g", "sum", "old", "x", "outer", "b", "b.loop", "a.loop"}));
}

// Threads leave the inner loop in different rounds. Those that do so early come to the cut in it
// again in a later round of the outer one, together with those that have stayed.
constexpr const char* nest =
    "entry:\n"
    "  br label %outer\n"
    "outer:\n"
    "  %k = phi i32 [ 0, %entry ], [ %k.next, %latch ]\n"
    "  br label %inner\n"
    "inner:\n"
    "  %i = phi i32 [ %t, %outer ], [ %i.next, %after ]\n"
    "  br label %cut\n"
    "cut:\n"
    "  br label %after\n"
    "after:\n"
    "  %i.next = add i32 %i, %k\n"
    "  %c = icmp slt i32 %i.next, %n\n"
    "  br i1 %c, label %inner, label %latch\n"
    "latch:\n"
    "  %k.next = add i32 %k, 1\n"
    "  %d = icmp slt i32 %k.next, %n\n"
    "  br i1 %d, label %outer, label %end\n"
    "end:\n"
    "  ret void\n";

TEST(JitUniformity, LosesWhatALoopCountsThatThreadsGoRoundPastACut) {
  EXPECT_EQ(divergent(nest), (Names{"k", "i", "i.next", "c", "after", "k.next", "d", "latch"}));
}

TEST(JitUniformity, KeepsItWhereThreadsMeetBeforeTheyGoRound) {
  std::string without_cut = nest;
  for (size_t at = 0; (at = without_cut.find("cut", at)) != std::string::npos; ++at)
    without_cut.replace(at, 3, "way");
  EXPECT_EQ(divergent(without_cut), (Names{"i", "i.next", "c", "after"}));
}

// Threads that go past the cut come to it in a later round, when others still wait there.
TEST(JitUniformity, LosesWhatALoopCountsThatThreadsGoRoundWithoutACut) {
  const Names names = divergent(
      "entry:\n"
      "  br label %loop\n"
      "loop:\n"
      "  %k = phi i32 [ 0, %entry ], [ %k.next, %latch ]\n"
      "  %x = add i32 %t, %k\n"
      "  %c = icmp slt i32 %x, %n\n"
      "  br i1 %c, label %cut, label %latch\n"
      "cut:\n"
      "  br label %latch\n"
      "latch:\n"
      "  %k.next = add i32 %k, 1\n"
      "  %d = icmp slt i32 %k.next, %n\n"
      "  br i1 %d, label %loop, label %end\n"
      "end:\n"
      "  ret void\n");
  EXPECT_EQ(names, (Names{"k", "x", "c", "loop", "k.next", "d", "latch"}));
}

// All come to the cut from whichever round of the inner loop, and to the outer one's next together.
TEST(JitUniformity, KeepsWhatALoopCountsAroundACutThatAllComeTo) {
  const Names names = divergent(
      "entry:\n"
      "  br label %outer\n"
      "outer:\n"
      "  %k = phi i32 [ 0, %entry ], [ %k.next, %cut ]\n"
      "  br label %inner\n"
      "inner:\n"
      "  %i = phi i32 [ 0, %outer ], [ %i.next, %inner ]\n"
      "  %i.next = add i32 %i, 1\n"
      "  %c = icmp slt i32 %i.next, %t\n"
      "  br i1 %c, label %inner, label %cut\n"
      "cut:\n"
      "  %k.next = add i32 %k, 1\n"
      "  %d = icmp slt i32 %k.next, %n\n"
      "  br i1 %d, label %outer, label %end\n"
      "end:\n"
      "  ret void\n");
  EXPECT_EQ(names, (Names{"c", "inner"}));
}

}  // namespace
}  // namespace sluice::hostcuda::jit
