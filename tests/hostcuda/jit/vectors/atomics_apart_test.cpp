// Where threads meet around atomic updates.
#include "hostcuda/jit/lockstep/atomics_apart.hpp"

#include <string>

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/block_function.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"

namespace sluice::hostcuda::jit {
namespace {

// A thread adds to sums[index] what so many operations make of what it loads from sums[from].
std::string update(int operations, const std::string& index, const std::string& from = "%t") {
  std::string text =
      "entry:\n  %other = mul i32 %t, %t\n"
      "  %in = getelementptr float, ptr %sums, i32 " +
      from +
      "\n"
      "  %v0 = load float, ptr %in\n";
  for (int i = 0; i < operations; ++i) {
    text += "  %v" + std::to_string(i + 1) + " = fmul float %v" + std::to_string(i) + ", 3.0\n";
  }
  return text + "  %at = getelementptr float, ptr %sums, i32 " + index +
         "\n  %old = atomicrmw fadd ptr %at, float %v" + std::to_string(operations) +
         " monotonic\n";
}

// How many meetings there are then.
int meetings(const std::string& blocks) {
  const BlockFunction parsed("", "ptr %sums", blocks);
  llvm::Function* function = parsed.get();
  if (function == nullptr) return -1;
  const bool changed = set_atomics_apart(*function);
  int count = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call && is_lockstep(*call)) ++count;
  }
  EXPECT_EQ(changed, count > 0);
  return count;
}

TEST(AtomicsApart, AreThoseBesideLongWork) {
  EXPECT_EQ(meetings(update(20, "%t") + "  ret void\n"), 2);
  EXPECT_EQ(meetings(update(3, "%t") + "  ret void\n"), 0);
}

// What loops cost as much as they go round is another's; two updates cost twice as much.
TEST(AtomicsApart, AreCountedWhereTheyRun) {
  EXPECT_EQ(meetings(update(20, "%t") + "  %more = atomicrmw fadd ptr %at, float %v1 monotonic\n"
                                        "  ret void\n"),
            0);
  EXPECT_EQ(meetings(update(20, "%t") + "  br label %loop\n"
                                        "loop:\n"
                                        "  %i = phi i32 [0, %entry], [%j, %loop]\n"
                                        "  %inner = atomicrmw add ptr %at, i32 1 monotonic\n"
                                        "  %j = add i32 %i, 1\n"
                                        "  %again = icmp slt i32 %j, %n\n"
                                        "  br i1 %again, label %loop, label %end\n"
                                        "end:\n  ret void\n"),
            2);
}

TEST(AtomicsApart, AreOfNeighboursAndHaveNoResult) {
  EXPECT_EQ(meetings(update(20, "%n") + "  ret void\n"), 0);
  EXPECT_EQ(meetings(update(20, "%other") + "  ret void\n"), 0);
  EXPECT_EQ(meetings(update(20, "%t", "%other") + "  ret void\n"), 0);
  EXPECT_EQ(meetings(update(20, "%t") + "  store float %old, ptr %in\n  ret void\n"), 0);
}

}  // namespace
}  // namespace sluice::hostcuda::jit
