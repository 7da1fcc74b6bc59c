// Masks that a counter's range makes idle go, others stay.
#include "hostcuda/jit/vectors/idle_masks.hpp"

#include <string>

#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/run_pass.hpp"

namespace sluice::hostcuda {
namespace {

using jit::IdleMasksPass;

// How many masks are left of those of 64 * y + 4 * x, in loops of 16 rounds each.
unsigned masks_left(const std::string& mask, unsigned rounds = 16) {
  const std::string text = fmt::format(
      "define void @f(ptr %p) {{\n"
      "entry:\n  br label %rows\n"
      "rows:\n  %y = phi i64 [0, %entry], [%y.next, %next]\n  br label %row\n"
      "row:\n  %x = phi i64 [0, %rows], [%x.next, %row]\n"
      "  %a = shl nuw nsw i64 %y, 6\n  %b = shl nuw nsw i64 %x, 2\n"
      "  %n = add nuw nsw i64 %a, %b\n"
      "  %m = and i64 %n, {}\n  %i = or disjoint i64 %m, 1024\n"
      "  %q = getelementptr i8, ptr %p, i64 %i\n  store i32 1, ptr %q\n"
      "  %x.next = add nuw nsw i64 %x, 1\n  %x.more = icmp ult i64 %x.next, 16\n"
      "  br i1 %x.more, label %row, label %next\n"
      "next:\n  %y.next = add nuw nsw i64 %y, 1\n  %y.more = icmp ult i64 %y.next, {}\n"
      "  br i1 %y.more, label %rows, label %end\n"
      "end:\n  ret void\n}}\n",
      mask, rounds);
  unsigned left = 0;
  run_pass<IdleMasksPass>(text, nullptr, [&](llvm::Function& function, bool changed) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (instruction.getOpcode() == llvm::Instruction::And) ++left;
    }
    EXPECT_EQ(changed, left == 0);
  });
  return left;
}

TEST(IdleMasks, GoWhereTheCountersAreSmall) {
  EXPECT_EQ(masks_left("-1025"), 0u);
  EXPECT_EQ(masks_left("1020"), 0u);
}

TEST(IdleMasks, StayWhereTheyTakeABit) {
  EXPECT_EQ(masks_left("-1025", 17), 1u);
  EXPECT_EQ(masks_left("1016"), 1u);
}

}  // namespace
}  // namespace sluice::hostcuda
