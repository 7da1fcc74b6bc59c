// Which unrolled loops are rolled up again.
#include "hostcuda/jit/lockstep/rolled_loops.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Verifier.h>

#include "hostcuda/jit/block_function.hpp"

namespace sluice::hostcuda::jit {
namespace {

// As nvcc writes for (i = lane; i < n; i += 32) sum += data[i].
const std::string unrolled =
    "entry:\n"
    "  %lane = and i32 %t, 31\n"
    "  %some = icmp slt i32 %lane, %n\n"
    "  br i1 %some, label %count, label %end\n"
    "count:\n"
    "  %minus = xor i32 %lane, -1\n"
    "  %far = add i32 %minus, %n\n"
    "  %quotient = lshr i32 %far, 5\n"
    "  %all = add i32 %quotient, 1\n"
    "  %few = and i32 %all, 3\n"
    "  %none = icmp eq i32 %few, 0\n"
    "  br i1 %none, label %join, label %rest\n"
    "rest:\n"
    "  %i = phi i32 [%lane, %count], [%i.next, %rest]\n"
    "  %left = phi i32 [%few, %count], [%fewer, %rest]\n"
    "  %sum = phi float [0.0, %count], [%sum.next, %rest]\n"
    "  %wide = sext i32 %i to i64\n"
    "  %p = getelementptr float, ptr %data, i64 %wide\n"
    "  %v = load float, ptr %p\n"
    "  %sum.next = fadd float %v, %sum\n"
    "  %i.next = add nsw i32 %i, 32\n"
    "  %fewer = add i32 %left, -1\n"
    "  %last = icmp eq i32 %fewer, 0\n"
    "  br i1 %last, label %join, label %rest\n"
    "join:\n"
    "  %i.join = phi i32 [%lane, %count], [%i.next, %rest]\n"
    "  %sum.join = phi float [0.0, %count], [%sum.next, %rest]\n"
    "  %done = icmp ult i32 %far, 96\n"
    "  br i1 %done, label %end, label %many\n"
    "many:\n"
    "  %j = phi i32 [%i.join, %join], [%j.next, %many]\n"
    "  %sum0 = phi float [%sum.join, %join], [%sum4, %many]\n"
    "  %j.wide = sext i32 %j to i64\n"
    "  %p0 = getelementptr float, ptr %data, i64 %j.wide\n"
    "  %v0 = load float, ptr %p0\n"
    "  %sum1 = fadd float %sum0, %v0\n"
    "  %p1 = getelementptr i8, ptr %p0, i64 128\n"
    "  %v1 = load float, ptr %p1\n"
    "  %sum2 = fadd float %sum1, %v1\n"
    "  %p2 = getelementptr i8, ptr %p0, i64 256\n"
    "  %v2 = load float, ptr %p2\n"
    "  %sum3 = fadd float %sum2, %v2\n"
    "  %p3 = getelementptr i8, ptr %p0, i64 384\n"
    "  %v3 = load float, ptr %p3\n"
    "  %sum4 = fadd float %sum3, %v3\n"
    "  %j.next = add i32 %j, 128\n"
    "  %again = icmp slt i32 %j.next, %n\n"
    "  br i1 %again, label %many, label %end\n"
    "end:\n"
    "  %result = phi float [0.0, %entry], [%sum.join, %join], [%sum4, %many]\n"
    "  %out = getelementptr float, ptr %data, i32 %t\n"
    "  store float %result, ptr %out\n"
    "  ret void\n";

using Changes = std::vector<std::pair<std::string, std::string>>;

std::string changed(const Changes& changes) {
  std::string text = unrolled;
  for (const auto& [from, to] : changes) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

// How many loops the text has then.
int loops(const Changes& changes) {
  const BlockFunction parsed("", "ptr %data", changed(changes));
  llvm::Function* function = parsed.get();
  if (function == nullptr) return -1;
  const bool rolled = roll_loops(*function);
  EXPECT_FALSE(llvm::verifyFunction(*function, &llvm::errs()));
  int count = 0;
  for (llvm::BasicBlock& block : *function)
    count += llvm::is_contained(llvm::successors(&block), &block) ? 1 : 0;
  EXPECT_EQ(rolled, count == 1);
  return count;
}

TEST(RolledLoops, AreThoseThatThreadsGoRoundDifferentlyOften) {
  EXPECT_EQ(loops({}), 1);
  EXPECT_EQ(loops({{"%lane = and i32 %t, 31", "%lane = and i32 %nx, 31"}}), 2);
}

// A pointer that goes on beside i, made in each loop anew.
TEST(RolledLoops, MayCountByPointers) {
  const Changes pointers = {
      {"br i1 %none, label %join, label %rest", "br i1 %none, label %join, label %before"},
      {"rest:\n",
       "before:\n"
       "  %start = zext i32 %lane to i64\n"
       "  %first = getelementptr float, ptr %data, i64 %start\n"
       "  br label %rest\n"
       "rest:\n"
       "  %p = phi ptr [%first, %before], [%p.next, %rest]\n"},
      {"[%lane, %count], [%i.next", "[%lane, %before], [%i.next"},
      {"[%few, %count]", "[%few, %before]"},
      {"[0.0, %count], [%sum.next", "[0.0, %before], [%sum.next"},
      {"  %wide = sext i32 %i to i64\n  %p = getelementptr float, ptr %data, i64 %wide\n",
       "  %p.next = getelementptr i8, ptr %p, i64 128\n"},
      {"label %end, label %many\n",
       "label %end, label %middle\n"
       "middle:\n"
       "  %start2 = zext i32 %i.join to i64\n"
       "  %here = getelementptr float, ptr %data, i64 %start2\n"
       "  %second = getelementptr i8, ptr %here, i64 128\n"
       "  br label %many\n"},
      {"[%i.join, %join]", "[%i.join, %middle]"},
      {"[%sum.join, %join], [%sum4, %many]\n",
       "[%sum.join, %middle], [%sum4, %many]\n"
       "  %q = phi ptr [%second, %middle], [%q.next, %many]\n"},
      {"  %j.wide = sext i32 %j to i64\n  %p0 = getelementptr float, ptr %data, i64 %j.wide\n",
       "  %q.next = getelementptr i8, ptr %q, i64 512\n"
       "  %p0 = getelementptr i8, ptr %q, i64 -128\n"},
  };
  EXPECT_EQ(loops(pointers), 1);
  Changes stored = pointers;
  stored.push_back({"  br label %rest\n", "  store i32 0, ptr %data\n  br label %rest\n"});
  EXPECT_EQ(loops(stored), 2);
  Changes other = pointers;
  other.push_back({"ptr %q, i64 512", "ptr %q, i64 516"});
  EXPECT_EQ(loops(other), 2);
}

TEST(RolledLoops, DoTheSameInEachRound) {
  EXPECT_EQ(loops({{"ptr %p0, i64 256", "ptr %p0, i64 260"}}), 2);
  EXPECT_EQ(loops({{"%sum3 = fadd", "%sum3 = fmul"}}), 2);
  EXPECT_EQ(loops({{"fadd float %sum2, %v2", "fadd float %sum1, %v2"}}), 2);
  EXPECT_EQ(loops({{"%v3 = load float, ptr %p3",
                    "store float %v0, ptr %p1\n  %v3 = load float, ptr %p3"}}),
            2);
  EXPECT_EQ(loops({{"%v3 = load float", "%v3 = load volatile float"}}), 2);
}

// A sum in the same rounds that stores it too, if in the same order.
TEST(RolledLoops, StoreInTheOrderInWhichTheyStored) {
  const Changes stores = {{"  %fewer =", "  store float %sum.next, ptr %p\n  %fewer ="},
                          {"  %p1 =", "  store float %sum1, ptr %p0\n  %p1 ="},
                          {"  %p2 =", "  store float %sum2, ptr %p1\n  %p2 ="},
                          {"  %p3 =", "  store float %sum3, ptr %p2\n  %p3 ="},
                          {"  %j.next =", "  store float %sum4, ptr %p3\n  %j.next ="}};
  EXPECT_EQ(loops(stores), 1);
  Changes late = stores;
  late[2] = {"  %sum3 =", "  store float %sum2, ptr %p1\n  %sum3 ="};
  EXPECT_EQ(loops(late), 2);
}

TEST(RolledLoops, RunAllRoundsFromBelowTheBound) {
  EXPECT_EQ(loops({{"lshr i32 %far, 5", "lshr i32 %far, 4"}}), 2);
  EXPECT_EQ(loops({{"and i32 %all, 3", "and i32 %all, 1"}}), 2);
  EXPECT_EQ(loops({{"add i32 %minus, %n", "add i32 %minus, %nx"}}), 2);
  EXPECT_EQ(loops({{"icmp slt i32 %lane", "icmp sgt i32 %lane"}}), 2);
  EXPECT_EQ(loops({{"icmp slt i32 %j.next", "icmp ne i32 %j.next"}}), 2);
  EXPECT_EQ(loops({{"%fewer = add i32 %left, -1", "%fewer = add i32 %left, -2"}}), 2);
  // What is added to i may wrap where i does not, and so may i as a number with sign where it is
  // compared without.
  EXPECT_EQ(
      loops({{"%wide = sext i32 %i to", "%i5 = add i32 %i, 5\n  %wide = sext i32 %i5 to"},
             {"%j.wide = sext i32 %j to", "%j5 = add i32 %j, 5\n  %j.wide = sext i32 %j5 to"}}),
      2);
  const Changes unsigned_ends = {{"icmp slt i32 %lane", "icmp ult i32 %lane"},
                                 {"icmp slt i32 %j.next", "icmp ult i32 %j.next"}};
  EXPECT_EQ(loops(unsigned_ends), 2);
  Changes zeros = unsigned_ends;
  zeros.push_back({"%wide = sext i32 %i", "%wide = zext i32 %i"});
  zeros.push_back({"%j.wide = sext i32 %j", "%j.wide = zext i32 %j"});
  EXPECT_EQ(loops(zeros), 1);
  // Below as a number without sign is not enough where the loop asks for one with.
  EXPECT_EQ(loops({{"icmp slt i32 %lane", "icmp ult i32 %lane"}}), 2);
}

TEST(RolledLoops, LeaveBehindWhatTheyLeft) {
  EXPECT_EQ(loops({{"  %done = icmp", "  store float %sum.join, ptr %data\n  %done = icmp"}}), 2);
  EXPECT_EQ(loops({{"[%sum4, %many]\n  %out", "[%sum3, %many]\n  %out"}}), 2);
  EXPECT_EQ(loops({{"end:\n  %result = phi float [0.0, %entry], [%sum.join, %join]",
                    "end:\n  %result = phi float [0.0, %entry], [1.0, %join]"}}),
            2);
}

}  // namespace
}  // namespace sluice::hostcuda::jit
