// Stretches of threads without work are left out.
#include "hostcuda/jit/stretches/idle_stretches.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/run_pass.hpp"

namespace sluice::hostcuda {
namespace {

using jit::IdleStretchesPass;

// A loop over threads whose guard is these lines, from %i to %p, and whose work writes to where
// %target says.
std::string loop_of(const std::string& guard, const std::string& target, unsigned rounds) {
  return thread_loop("ptr noalias %mask, ptr noalias %where, ptr noalias %to, i64 %n",
                     guard +
                         "  br i1 %p, label %work, label %latch\n"
                         "work:\n  %from = getelementptr i64, ptr %where, i64 %i\n"
                         "  %place = load i64, ptr %from, !llvm.access.group !0\n"
                         "  %at = getelementptr i64, ptr %to, i64 " +
                         target +
                         "\n  store i64 %i, ptr %at, !llvm.access.group !0\n  br label %latch\n",
                     rounds);
}

// Whether 64 threads are asked at once: how many vectors are loaded for that.
unsigned vectors_of(const std::string& guard, const std::string& target = "%place",
                    unsigned rounds = 256) {
  unsigned vectors = 0;
  run_pass<IdleStretchesPass>(
      loop_of(guard, target, rounds), nullptr, [&](llvm::Function& function, bool changed) {
        for (llvm::Instruction& each : llvm::instructions(function))
          if (llvm::isa<llvm::LoadInst>(each) && each.getType()->isVectorTy()) ++vectors;
        EXPECT_EQ(changed, vectors > 0);
      });
  return vectors;
}

const char* const byte = "  %b = getelementptr i8, ptr %mask, i64 %i\n  %m = load i8, ptr %b\n";

TEST(IdleStretches, AreAskedForBeforeWorkThatGathers) {
  EXPECT_EQ(vectors_of(fmt::format("{}  %p = icmp ne i8 %m, 0\n", byte)), 1U);
  EXPECT_EQ(vectors_of(fmt::format("{}  %q = icmp ne i8 %m, 0\n  %o = icmp ult i64 %i, %n\n"
                                   "  %p = and i1 %q, %o\n",
                                   byte)),
            1U);
}

TEST(IdleStretches, AreNotAskedForWhereTheWorkIsOfVectors) {
  EXPECT_EQ(vectors_of(fmt::format("{}  %p = icmp ne i8 %m, 0\n", byte), "%i"), 0U);
}

TEST(IdleStretches, AreNotAskedForWhereNoMemorySaysSo) {
  EXPECT_EQ(vectors_of("  %p = icmp ult i64 %i, %n\n"), 0U);
}

TEST(IdleStretches, AreNotAskedForByWhatMayNotBeReadEarly) {
  EXPECT_EQ(vectors_of("  %b = getelementptr i8, ptr %mask, i64 %i\n"
                       "  %m = load volatile i8, ptr %b\n  %p = icmp ne i8 %m, 0\n"),
            0U);
  EXPECT_EQ(vectors_of("  %b = getelementptr i8, ptr %mask, i64 %i\n"
                       "  %m = load atomic i8, ptr %b monotonic, align 1\n"
                       "  %p = icmp ne i8 %m, 0\n"),
            0U);
}

TEST(IdleStretches, AreNotAskedForWhereThereAreFewThreads) {
  EXPECT_EQ(vectors_of(fmt::format("{}  %p = icmp ne i8 %m, 0\n", byte), "%place", 32), 0U);
}

// Threads below the limit whose byte is not 0 add up as many words as it says, from where their
// own word says, and write the sum.
TEST(IdleStretches, LeaveOutNobodyWhoHasWork) {
  Kernels kernels(compile_text(
      ".version 8.5\n.target sm_90\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 mask, .param .u64 words, .param .u64 out, .param .u32 n) "
      "{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
      "ld.param.u64 %rd0, [mask];\nld.param.u64 %rd1, [words];\nld.param.u64 %rd2, [out];\n"
      "ld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
      "mov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r1;\nsetp.ge.s32 %p0, %r4, %r0;\n"
      "@%p0 bra E;\ncvt.s64.s32 %rd3, %r4;\nadd.s64 %rd4, %rd0, %rd3;\nld.global.u8 %h0, [%rd4];\n"
      "setp.eq.s16 %p1, %h0, 0;\n@%p1 bra E;\ncvt.u32.u16 %r5, %h0;\nmul.wide.s32 %rd5, %r4, 4;\n"
      "add.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r6, [%rd6];\nmov.u32 %r7, 0;\nL:\n"
      "mul.wide.u32 %rd7, %r6, 4;\nadd.s64 %rd8, %rd1, %rd7;\nld.global.u32 %r8, [%rd8];\n"
      "add.u32 %r7, %r7, %r8;\nadd.u32 %r6, %r6, 1;\nsub.u32 %r5, %r5, 1;\n"
      "setp.ne.u32 %p2, %r5, 0;\n@%p2 bra L;\nadd.s64 %rd9, %rd2, %rd5;\n"
      "st.global.u32 [%rd9], %r7;\nE:\nret;\n}\n"));
  for (const uint32_t block : {32U, 64U, 96U, 256U}) {
    for (const uint32_t blocks : {1U, 3U, 8U}) {
      for (const uint32_t every : {1U, 7U, 61U, 1000U}) {
        for (const uint32_t missing : {0U, 1U, 40U}) {
          const uint32_t threads = block * blocks;
          const uint32_t n = threads > missing ? threads - missing : threads;
          std::vector<uint8_t> mask(threads);
          std::vector<uint32_t> words(threads + 8), out(threads, 5), expected = out;
          for (uint32_t i = 0; i < threads + 8; ++i)
            words[i] = i * 37 % threads;
          for (uint32_t i = 0; i < threads; ++i) {
            mask[i] = i % every == every / 2 ? 1 + i % 5 : 0;
            if (i >= n || mask[i] == 0) continue;
            expected[i] = 0;
            for (uint32_t k = 0; k < mask[i]; ++k)
              expected[i] += words[words[i] + k];
          }
          kernels.run_on(2, "kernel", {blocks}, {block}, 0, mask.data(), words.data(), out.data(),
                         n);
          ASSERT_EQ(out, expected) << block << " x " << blocks << ", one in " << every << ", " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sluice::hostcuda
