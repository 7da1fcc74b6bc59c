// What all threads read alike before they write is read once.
#include "hostcuda/jit/stretches/first_loads.hpp"

#include <string>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/run_pass.hpp"

namespace sluice::hostcuda {
namespace {

using jit::FirstLoadsPass;

// A loop over threads that begins with these lines, and goes on with %row.
std::string loop_of(const std::string& first) {
  return thread_loop("ptr %rows, ptr %to, i64 %block, i1 %some",
                     "  %own = getelementptr i64, ptr %to, i64 %i\n" + first +
                         "  br i1 %some, label %work, label %latch\n"
                         "work:\n  %j = add i64 %row, %i\n"
                         "  %at = getelementptr i64, ptr %to, i64 %j\n"
                         "  store i64 %i, ptr %at, !llvm.access.group !0\n  br label %latch\n",
                     64);
}

// How many loads are in front of the loop then.
unsigned taken_out(const std::string& first) {
  unsigned loads = 0;
  run_pass<FirstLoadsPass>(loop_of(first), nullptr, [&](llvm::Function& function, bool changed) {
    for (llvm::Instruction& each : function.getEntryBlock())
      if (llvm::isa<llvm::LoadInst>(each)) ++loads;
    EXPECT_EQ(changed, loads > 0);
  });
  return loads;
}

TEST(FirstLoads, LeaveTheLoop) {
  EXPECT_EQ(
      taken_out("  %a = getelementptr i64, ptr %rows, i64 %block\n  %row = load i64, ptr %a\n"),
      1U);
}

TEST(FirstLoads, LeaveTheLoopWithWhatIsReadWhereTheySay) {
  EXPECT_EQ(taken_out("  %a = getelementptr i64, ptr %rows, i64 %block\n  %b = load i64, ptr %a\n"
                      "  %c = getelementptr i64, ptr %rows, i64 %b\n  %row = load i64, ptr %c\n"),
            2U);
}

TEST(FirstLoads, StayBehindAStore) {
  EXPECT_EQ(taken_out("  store i64 1, ptr %own\n  %row = load i64, ptr %rows\n"), 0U);
}

TEST(FirstLoads, StayWhereEachThreadReadsItsOwn) {
  EXPECT_EQ(taken_out("  %row = load i64, ptr %own\n"), 0U);
}

TEST(FirstLoads, StayWhereTheyAreVolatileOrAtomic) {
  EXPECT_EQ(taken_out("  %row = load volatile i64, ptr %rows\n"), 0U);
  EXPECT_EQ(taken_out("  %row = load atomic i64, ptr %rows monotonic, align 8\n"), 0U);
}

}  // namespace
}  // namespace sluice::hostcuda
