// What all threads leave alike is no variable of the loop over them.
#include "hostcuda/jit/threads/left_values.hpp"

#include <string>

#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/run_pass.hpp"

namespace sluice::hostcuda {
namespace {

using jit::LeftValuesPass;

// A loop whose rounds that are alive write %left, which begins as `first` and is used behind it.
std::string loop_of(const std::string& first, const std::string& written) {
  return fmt::format(
      "define i32 @f(ptr %alive, i32 %n) {{\n"
      "entry:\n  %value = add i32 %n, 3\n  br label %head\n"
      "head:\n  %i = phi i64 [0, %entry], [%next, %latch]\n"
      "  %left = phi i32 [{}, %entry], [%left.next, %latch]\n"
      "  %at = getelementptr i8, ptr %alive, i64 %i\n  %byte = load i8, ptr %at\n"
      "  %ended = icmp eq i8 %byte, 0\n  br i1 %ended, label %latch, label %run\n"
      "run:\n  %own = trunc i64 %i to i32\n  store i8 2, ptr %at\n  br label %latch\n"
      "latch:\n  %left.next = phi i32 [%left, %head], [{}, %run]\n"
      "  %next = add nuw nsw i64 %i, 1\n  %done = icmp eq i64 %next, 64\n"
      "  br i1 %done, label %end, label %head\n"
      "end:\n  ret i32 %left.next\n}}\n",
      first, written);
}

// How many phis are left.
unsigned phis_of(const std::string& first, const std::string& written) {
  unsigned phis = 0;
  run_pass<LeftValuesPass>(loop_of(first, written), nullptr,
                           [&](llvm::Function& function, bool changed) {
                             for (llvm::Instruction& each : llvm::instructions(function))
                               if (llvm::isa<llvm::PHINode>(each)) ++phis;
                             EXPECT_EQ(changed, phis == 1);
                           });
  return phis;
}

TEST(LeftValues, AreThoseWrittenWhereNothingWasBefore) {
  EXPECT_EQ(phis_of("undef", "%value"), 1U);
  EXPECT_EQ(phis_of("poison", "%value"), 1U);
  EXPECT_EQ(phis_of("undef", "7"), 1U);
  EXPECT_EQ(phis_of("%value", "%value"), 1U);
}

TEST(LeftValues, StayVariablesWhereTheyMayDiffer) {
  EXPECT_EQ(phis_of("%n", "%value"), 3U);
  EXPECT_EQ(phis_of("0", "7"), 3U);
}

TEST(LeftValues, StayVariablesWhereTheValueIsTheThreadsOwn) {
  EXPECT_EQ(phis_of("undef", "%own"), 3U);
}

}  // namespace
}  // namespace sluice::hostcuda
