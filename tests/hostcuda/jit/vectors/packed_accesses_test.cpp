// A packed structure's bytes are read at once before regions are cut, with the marks of loops.
#include <string>

#include <llvm/IR/InstIterator.h>
#include <llvm/Target/TargetMachine.h>

#include "hostcuda/jit/block_function.hpp"
#include "hostcuda/jit/object/host_target.hpp"
#include "hostcuda/jit/object/optimiser.hpp"

namespace sluice::hostcuda {
namespace {

TEST(PackedAccesses, ReadTheirBytesAtOnce) {
  std::string bytes = "entry:\n  %base = add i64 %workspace, 16\n";
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    bytes += "  %a" + n + " = add i64 %base, " + n + "\n  %p" + n +
             " = getelementptr i8, ptr %origin, i64 %a" + n + "\n  %b" + n + " = load i8, ptr %p" +
             n + "\n  %w" + n + " = zext i8 %b" + n + " to i32\n  %s" + n + " = shl i32 %w" + n +
             ", " + std::to_string(8 * i) + "\n";
  }
  bytes +=
      "  %x = or i32 %s0, %s1\n  %y = or i32 %x, %s2\n  %z = or i32 %y, %s3\n"
      "  store i32 %z, ptr %shared\n  ret void\n";
  const jit::BlockFunction parsed("", "i32 %m", bytes);
  auto target = jit::make_host_target();
  ASSERT_NE(parsed.get(), nullptr);
  ASSERT_TRUE(target);
  parsed.get()->getParent()->setDataLayout((*target)->createDataLayout());
  jit::simplify(*parsed.get(), **target);
  unsigned loads = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(*parsed.get())) {
    if (!llvm::isa<llvm::LoadInst>(instruction)) continue;
    ++loads;
    EXPECT_TRUE(instruction.getType()->isIntegerTy(32));
  }
  EXPECT_EQ(loads, 1u);
}

}  // namespace
}  // namespace sluice::hostcuda
