// Threads that divide their number by a width: row by row, and the same where there are no rows.
#include "hostcuda/jit/stretches/row_stretches.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/run_pass.hpp"

namespace sluice::hostcuda {
namespace {

constexpr uint32_t threads = 256;
constexpr uint32_t blocks = 3;

// Thread n of the grid, from first on, writes (first + n) / width and the rest.
std::string kernel(const std::string& type, const std::string& width) {
  return fmt::format(
      ".version 7.5\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u32 first, .param .u32 width, .param .u32 count) "
      "{{\n.reg .pred %p; .reg .b32 %r<12>; .reg .b64 %a<4>;\n"
      "ld.param.u64 %a1, [out];\nld.param.u32 %r1, [first];\nld.param.u32 %r2, [width];\n"
      "ld.param.u32 %r11, [count];\nmov.u32 %r3, %tid.x;\nmov.u32 %r4, %ctaid.x;\n"
      "mad.lo.u32 %r5, %r4, {0}, %r3;\nsetp.ge.u32 %p, %r5, %r11;\n@%p bra END;\n"
      "add.u32 %r6, %r5, %r1;\ndiv.{1} %r7, %r6, {2};\nrem.{1} %r8, %r6, {2};\n"
      "mul.wide.u32 %a2, %r5, 8;\nadd.u64 %a2, %a1, %a2;\n"
      "st.global.u32 [%a2], %r7;\nst.global.u32 [%a2+4], %r8;\nEND:\nret;\n}}\n",
      threads, type, width);
}

void expect_rows(bool is_signed, bool is_constant, uint32_t first, uint32_t width, uint32_t count) {
  std::unique_ptr<CompiledModule> module = compile_text(
      kernel(is_signed ? "s32" : "u32", is_constant ? std::to_string(int32_t(width)) : "%r2"));
  ASSERT_NE(module, nullptr);
  std::vector<uint32_t> out(2 * blocks * threads, 7);
  Kernels(std::move(module)).run("k", {blocks}, {threads}, 0, out.data(), first, width, count);
  for (uint32_t n = 0; n < blocks * threads; ++n) {
    const uint32_t number = first + n;
    uint32_t quotient =
        is_signed ? uint32_t(int64_t(int32_t(number)) / int32_t(width)) : number / width;
    uint32_t rest = number - quotient * width;
    if (n >= count) quotient = rest = 7;
    ASSERT_EQ(out[2 * n], quotient) << number << " / " << width << ", " << is_signed;
    ASSERT_EQ(out[2 * n + 1], rest) << number << " % " << width << ", " << is_signed;
  }
}

TEST(RowStretches, CountThroughRowsOfEachWidth) {
  for (const uint32_t width :
       {1U, 2U, 3U, 63U, 64U, 65U, 100U, 255U, 256U, 257U, 1000U, 1U << 30U}) {
    for (const uint32_t first : {0U, 1U, 63U, 99U, 12345U}) {
      expect_rows(true, false, first, width, blocks * threads);
      expect_rows(false, false, first, width, 700);
    }
  }
}

TEST(RowStretches, KnowConstantWidths) {
  for (const uint32_t width : {64U, 100U, 512U})
    expect_rows(true, true, 17, width, blocks * threads);
}

// Below zero quotients are those of magnitudes, and the greatest number is followed by the least.
TEST(RowStretches, CountThroughZeroAndBeyondTheGreatestNumber) {
  for (const uint32_t first :
       {uint32_t(-1000), uint32_t(-300), uint32_t(-100), 0x7FFFFF00U, 0xFFFFFF00U}) {
    for (const uint32_t width : {64U, 100U, 300U}) {
      expect_rows(true, false, first, width, blocks * threads);
      expect_rows(false, false, first, width, blocks * threads);
    }
    expect_rows(true, false, first, uint32_t(-100), blocks * threads);
    expect_rows(true, true, first, uint32_t(-100), blocks * threads);
    expect_rows(false, false, first, 0xC0000000U, blocks * threads);
  }
}

// The same by a width of 64 bits, as nvcc has programs do it: quickly, where neither number needs
// more than 32. `extend` makes 64 bits of the number, and threads go on by `step` while below
// count.
std::string wide_kernel(const std::string& extend) {
  return fmt::format(
      ".version 7.5\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u32 first, .param .u32 count, .param .u32 step, "
      ".param .align 8 .b8 shape[16]) {{\n.reg .pred %p, %q, %w; .reg .b32 %r<20>; "
      ".reg .b64 %a<20>;\n"
      "ld.param.u64 %a1, [out];\nld.param.u32 %r1, [first];\nld.param.u32 %r11, [count];\n"
      "ld.param.u32 %r12, [step];\nmov.u32 %r3, %tid.x;\nmov.u32 %r4, %ctaid.x;\n"
      "mad.lo.u32 %r5, %r4, {0}, %r3;\nsetp.ge.u32 %p, %r5, %r11;\n@%p bra END;\nLOOP:\n"
      "ld.param.u64 %a3, [shape+8];\nadd.u32 %r6, %r5, %r1;\n{1} %a4, %r6;\n"
      "or.b64 %a5, %a4, %a3;\nand.b64 %a6, %a5, -4294967296;\nsetp.ne.s64 %q, %a6, 0;\n"
      "@%q bra WIDE;\ncvt.u32.u64 %r7, %a3;\ncvt.u32.u64 %r8, %a4;\ndiv.u32 %r9, %r8, %r7;\n"
      "mul.lo.s32 %r10, %r9, %r7;\nsub.s32 %r10, %r8, %r10;\ncvt.u64.u32 %a7, %r9;\n"
      "cvt.u64.u32 %a8, %r10;\nbra.uni BOTH;\nWIDE:\ndiv.u64 %a7, %a4, %a3;\n"
      "mul.lo.s64 %a9, %a7, %a3;\nsub.s64 %a8, %a4, %a9;\nBOTH:\n"
      "mul.wide.u32 %a2, %r5, 16;\nadd.u64 %a2, %a1, %a2;\n"
      "st.global.u64 [%a2], %a7;\nst.global.u64 [%a2+8], %a8;\n"
      "add.u32 %r5, %r5, %r12;\nsetp.lt.u32 %w, %r5, %r11;\n@%w bra LOOP;\nEND:\nret;\n}}\n",
      threads, extend);
}

struct Shape {
  uint64_t other, width;
};

void expect_wide_rows(bool is_signed, uint32_t first, uint64_t width, uint32_t grid) {
  std::unique_ptr<CompiledModule> module =
      compile_text(wide_kernel(is_signed ? "cvt.s64.s32" : "cvt.u64.u32"));
  ASSERT_NE(module, nullptr);
  const uint32_t count = blocks * threads - 10;
  std::vector<uint64_t> out(2 * uint64_t{blocks} * threads, 7);
  Kernels(std::move(module))
      .run("k", {grid}, {threads}, 0, out.data(), first, count, grid * threads, Shape{3, width});
  for (uint32_t n = 0; n < blocks * threads; ++n) {
    const uint32_t low = first + n;
    const uint64_t number = is_signed ? uint64_t(int64_t(int32_t(low))) : low;
    ASSERT_EQ(out[2 * n], n < count ? number / width : 7) << number << " / " << width;
    ASSERT_EQ(out[2 * n + 1], n < count ? number % width : 7) << number << " % " << width;
  }
}

TEST(RowStretches, AreFoundBehindWideDivisions) {
  for (const uint32_t grid : {1U, blocks}) {
    for (const uint64_t width :
         {uint64_t{1}, uint64_t{63}, uint64_t{100}, uint64_t{1000}, uint64_t{1} << 31U,
          (uint64_t{1} << 32U) - 1, uint64_t{1} << 32U, uint64_t{3} << 40U, ~uint64_t{0}}) {
      for (const uint32_t first : {0U, 99U, uint32_t(-300), 0x7FFFFF00U}) {
        expect_wide_rows(true, first, width, grid);
        expect_wide_rows(false, first, width, grid);
      }
    }
  }
}

// A loop over threads that divides as above and carries along what it has found.
const char* const carrying_loop = R"(
define i64 @f(ptr %out, i64 %width, i32 %first) {
entry:
  %w = trunc i64 %width to i32
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %both]
  %sum = phi i64 [0, %entry], [%more, %both]
  %low = trunc i64 %i to i32
  %n = add i32 %low, %first
  %number = sext i32 %n to i64
  %bits = or i64 %number, %width
  %quick = icmp ult i64 %bits, 4294967296
  br i1 %quick, label %short, label %wide
short:
  %q = udiv i32 %n, %w
  %quotient = zext i32 %q to i64
  br label %both
wide:
  %whole = udiv i64 %number, %width
  br label %both
both:
  %result = phi i64 [%quotient, %short], [%whole, %wide]
  %more = add i64 %sum, %result
  %at = getelementptr i64, ptr %out, i64 %i
  store i64 %result, ptr %at, !llvm.access.group !1
  %next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %next, 256
  br i1 %again, label %loop, label %done, !llvm.loop !2
done:
  %all = phi i64 [%more, %both]
  ret i64 %all
}
!1 = distinct !{}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.parallel_accesses", !1}
)";

TEST(RowStretches, TakeDivisionsOutOfLoopsThatCarryValues) {
  run_pass<jit::RowStretchesPass>(
      carrying_loop, nullptr, [](llvm::Function& function, bool changed) {
        EXPECT_TRUE(changed);
        const llvm::DominatorTree dominators(function);
        const llvm::LoopInfo loops(dominators);
        int innermost = 0;
        int dividing = 0;
        for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
          if (!loop->isInnermost()) continue;
          ++innermost;
          for (const llvm::BasicBlock* block : loop->blocks()) {
            dividing += llvm::any_of(*block, [](const llvm::Instruction& each) {
              return each.getOpcode() == llvm::Instruction::UDiv;
            });
          }
        }
        EXPECT_EQ(innermost, 2) << "one for rows, and the loop as it was";
        EXPECT_EQ(dividing, 2) << "both in the loop as it was";
      });
}

// How many loops over threads that divide by `width`, made of %b, still ask whether %b is `number`.
int loops_that_ask(const std::string& width, const std::string& number) {
  const std::string text =
      "define void @f(ptr %out, i32 %a, i32 %b, i1 %choose) {\nentry:\n" + width +
      "  %is = icmp eq i32 %b, " + number +
      "\n  br label %loop\nloop:\n  %i = phi i32 [0, %entry], [%next, %loop]\n"
      "  %q = udiv i32 %i, %width\n  %result = select i1 %is, i32 %i, i32 %q\n"
      "  %at = getelementptr i32, ptr %out, i32 %i\n"
      "  store i32 %result, ptr %at, !llvm.access.group !1\n"
      "  %next = add nuw nsw i32 %i, 1\n  %again = icmp ult i32 %next, 256\n"
      "  br i1 %again, label %loop, label %done, !llvm.loop !2\ndone:\n  ret void\n}\n"
      "!1 = distinct !{}\n!2 = distinct !{!2, !3}\n!3 = !{!\"llvm.loop.parallel_accesses\", !1}\n";
  int asking = 0;
  run_pass<jit::RowStretchesPass>(text, nullptr, [&](llvm::Function& function, bool changed) {
    EXPECT_TRUE(changed);
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost()) continue;
      for (const llvm::BasicBlock* block : loop->blocks())
        asking += llvm::any_of(*block, llvm::IsaPred<llvm::SelectInst>);
    }
  });
  return asking;
}

// In the loop as it was that question stays, in the other one it goes where the answer is known.
TEST(RowStretches, ForgetOnlyWhatTheWidthAnswers) {
  EXPECT_EQ(loops_that_ask("  %width = call i32 @llvm.umax.i32(i32 %b, i32 1)\n", "0"), 1);
  EXPECT_EQ(loops_that_ask("  %small = icmp eq i32 %b, 0\n"
                           "  %width = select i1 %small, i32 1, i32 %b\n",
                           "0"),
            1);
  EXPECT_EQ(loops_that_ask("  %width = select i1 %choose, i32 %a, i32 %b\n", "0"), 2);
  EXPECT_EQ(loops_that_ask("  %width = call i32 @llvm.umax.i32(i32 %b, i32 %a)\n", "0"), 2);
  EXPECT_EQ(loops_that_ask("  %width = call i32 @llvm.umax.i32(i32 %b, i32 1)\n", "-1"), 2);
}

}  // namespace
}  // namespace sluice::hostcuda
