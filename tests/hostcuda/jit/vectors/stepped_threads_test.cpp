// Loops over threads go from one that has work to the next.
#include "hostcuda/jit/stretches/stepped_threads.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/run_pass.hpp"

namespace sluice::hostcuda {
namespace {

using jit::SteppedThreadsPass;

// A loop of so many rounds which the lines guard, from %i to %p.
std::string loop_of(const std::string& guard, unsigned rounds) {
  return thread_loop("ptr %to, i32 %n",
                     guard +
                         "  br i1 %p, label %body, label %latch\n"
                         "body:\n  %at = getelementptr i64, ptr %to, i64 %i\n"
                         "  store i64 %i, ptr %at, !llvm.access.group !0\n  br label %latch\n",
                     rounds);
}

// The first round and the step of the loop; nothing where it goes through all.
std::optional<std::pair<uint64_t, uint64_t>> steps_of(const std::string& guard,
                                                      unsigned rounds = 64) {
  std::optional<std::pair<uint64_t, uint64_t>> steps;
  run_pass<SteppedThreadsPass>(
      loop_of(guard, rounds), nullptr, [&](llvm::Function& function, bool changed) {
        if (!changed) return;
        const auto constant = [](llvm::Value* value) {
          return llvm::cast<llvm::ConstantInt>(value)->getZExtValue();
        };
        for (llvm::PHINode& index : function.getEntryBlock().getSingleSuccessor()->phis()) {
          auto* next = llvm::cast<llvm::Instruction>(index.getIncomingValue(1));
          steps = {constant(index.getIncomingValue(0)), constant(next->getOperand(1))};
        }
      });
  return steps;
}

using Steps = std::pair<uint64_t, uint64_t>;

TEST(SteppedThreads, BeginAndGoOnWhereTheRemainderSays) {
  EXPECT_EQ(steps_of("  %m = and i64 %i, 3\n  %p = icmp eq i64 %m, 0\n"), (Steps{0, 4}));
  EXPECT_EQ(steps_of("  %s = add i64 %i, 3\n  %m = and i64 %s, 7\n  %p = icmp eq i64 %m, 2\n"),
            (Steps{7, 8}));
  EXPECT_EQ(steps_of("  %t = trunc i64 %i to i32\n  %m = urem i32 %t, 32\n"
                     "  %p = icmp eq i32 %m, 5\n"),
            (Steps{5, 32}));
  EXPECT_EQ(steps_of("  %m = and i64 %i, 1\n  %p = icmp ne i64 %m, 0\n"), (Steps{1, 2}));
}

TEST(SteppedThreads, LeaveWhatElseIsAskedToEachRound) {
  EXPECT_EQ(steps_of("  %m = and i64 %i, 3\n  %q = icmp eq i64 %m, 0\n"
                     "  %t = trunc i64 %i to i32\n  %o = icmp slt i32 %t, %n\n"
                     "  %p = and i1 %o, %q\n"),
            (Steps{0, 4}));
}

TEST(SteppedThreads, AreAllWhereTheGuardSaysOtherwise) {
  EXPECT_FALSE(steps_of("  %m = and i64 %i, 3\n  %p = icmp ne i64 %m, 0\n"));
  EXPECT_FALSE(steps_of("  %m = and i64 %i, 3\n  %p = icmp eq i64 %m, 4\n"));
  EXPECT_FALSE(steps_of("  %m = and i64 %i, 5\n  %p = icmp eq i64 %m, 0\n"));
  EXPECT_FALSE(steps_of("  %m = and i64 %i, 63\n  %p = icmp eq i64 %m, 0\n", 62));
  EXPECT_FALSE(
      steps_of("  %m = and i64 %i, 3\n  %q = icmp eq i64 %m, 0\n"
               "  %t = trunc i64 %i to i32\n  %o = icmp slt i32 %t, %n\n"
               "  %p = or i1 %o, %q\n"));
}

// Threads with (tid.x + add) % every == rest write their number plus one, before and behind a
// barrier; a thread ends between them where the word before its own says so.
TEST(SteppedThreads, WriteWhatTheyWouldOneByOne) {
  const std::string kernel =
      ".version 8.5\n.target sm_90\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 memory, .param .u64 ends) {{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n.shared .b32 words[128];\n"
      "ld.param.u64 %rd0, [memory];\nld.param.u64 %rd1, [ends];\nmov.u32 %r1, %tid.x;\n"
      "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd0, %rd2;\nadd.u64 %rd4, %rd1, %rd2;\n"
      "mov.u32 %r20, words;\nmad.lo.u32 %r21, %r1, 4, %r20;\nadd.u32 %r2, %r1, {};\n"
      "and.b32 %r3, %r2, {};\nst.shared.u32 [%r21], 0;\n"
      "setp.ne.u32 %p1, %r3, {};\n@%p1 bra A;\nadd.u32 %r4, %r1, 1;\nst.shared.u32 [%r21], %r4;\n"
      "A:\nbar.sync 0;\nld.global.u32 %r5, [%rd4];\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra E;\n"
      "bar.sync 0;\nld.shared.u32 %r6, [%r21];\n@%p1 bra B;\nst.global.u32 [%rd3], %r6;\n"
      "B:\nbar.sync 0;\n@!%p1 bra E;\nst.global.u32 [%rd3], 9;\nE:\nret;\n}}\n";
  for (const unsigned every : {2U, 4U, 16U, 64U}) {
    for (const unsigned add : {0U, 1U, 7U}) {
      const unsigned rest = (3 * add + 1) % every;
      Kernels kernels(compile_text(fmt::format(fmt::runtime(kernel), add, every - 1, rest)));
      for (const uint32_t block : {1U, 31U, 64U, 128U}) {
        std::vector<uint32_t> words(block, 7), ends(block), expected(block, 7);
        for (uint32_t t = 0; t < block; ++t) {
          ends[t] = t % 5 == 3;
          if (ends[t] == 0) expected[t] = (t + add) % every == rest ? t + 1 : 9;
        }
        kernels.run("kernel", {2}, {block}, 0, words.data(), ends.data());
        EXPECT_EQ(words, expected) << every << ", " << add << ", blocks of " << block;
      }
    }
  }
}

}  // namespace
}  // namespace sluice::hostcuda
