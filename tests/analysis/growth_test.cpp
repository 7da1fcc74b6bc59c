// What grows with the launch or with the kernel while a shape is analysed: each row makes one loop
// or container large, by a kernel that can be written down in a few lines, and what that takes is
// counted, not timed.
#include <algorithm>
#include <functional>
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/analysis_cost.hpp"
#include "analysis/kernel_analysis.hpp"
#include "ptx/parser.hpp"

namespace sluice::analysis::testing {
namespace {

// kernel() is PTX in which %r1 is the thread's number, %r2 its block's, and %rd1 a pointer.
std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_75\n.address_size 64\n"
         ".visible .entry grows(.param .u64 p, .param .u32 n) {\n"
         ".reg .b64 %rd<9>; .reg .b32 %r<99>; .reg .pred %p<99>;\n"
         "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\nld.param.u32 %r3, [n];\n"
         "mov.u32 %r2, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
         "mad.lo.s32 %r1, %r2, %r4, %r5;\n" +
         body + "ret;\n}\n";
}

// store() writes a word at the index in a register.
std::string store(const std::string& index) {
  return fmt::format(
      "mul.wide.s32 %rd2, {}, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], "
      "%r3;\n",
      index);
}

// Growth is a row of the table.
struct Growth {
  const char* what;   // grows
  const char* where;  // and where it would
  std::function<std::string()> body;
  // Whether that is so dear that the footprint says more than the kernel does.
  bool is_widened = false;
};

void PrintTo(const Growth& growth, std::ostream* stream) {
  *stream << growth.what << ", " << growth.where;
}

// loops() is so many loops inside each other, the index a sum of their counters.
std::string loops(int depth, int trips, const std::string& inside) {
  std::string text = "mov.u32 %r10, %r1;\n", ends;
  for (int i = 0; i < depth; ++i) {
    const int counter = 20 + i;
    text += fmt::format("mov.u32 %r{}, 0;\nL{}:\n", counter, i);
    ends =
        fmt::format("add.s32 %r{0}, %r{0}, 1;\nsetp.lt.s32 %p{0}, %r{0}, {1};\n@%p{0} bra L{2};\n",
                    counter, trips + i, i) +
        ends;
  }
  text += "mov.u32 %r11, %r1;\n";
  for (int i = 0; i < depth; ++i)
    text += fmt::format("mad.lo.s32 %r11, %r{}, {}, %r11;\n", 20 + i, 7 * i * i + 3);
  return text + inside + ends;
}

const Growth growths[] = {
    {"accesses x accesses at distances in no order", "isl's coalescing of a union",
     [] {
       std::string text;
       for (int i = 0; i < 900; ++i)
         text +=
             fmt::format("add.s32 %r6, %r1, {};\n", 512 * i + (i * i * 37) % 409) + store("%r6");
       return text;
     },
     true},
    {"pieces x shapes of pieces", "Folder::sort_in()",
     [] {
       std::string text;
       for (int i = 0; i < 40; ++i) {
         text += fmt::format("setp.lt.s32 %p1, %r1, {};\n@%p1 bra S{};\n", 5 + i * 3, i);
         text += fmt::format("mad.lo.s32 %r6, %r1, {}, {};\n", 2 + i % 12, 1000 * i + i * i % 97) +
                 store("%r6") + fmt::format("S{}:\n", i);
       }
       return text;
     },
     true},
    {"loops x strides", "projecting out what counts them",
     [] { return loops(6, 5, store("%r11")); }},
    {"divisions x loops", "isl's existential variables",
     [] {
       return loops(6, 9,
                    "rem.s32 %r12, %r11, 17;\ndiv.s32 %r13, %r11, 13;\nrem.s32 %r14, %r13, 29;\n"
                    "mad.lo.s32 %r15, %r12, 31, %r14;\ndiv.s32 %r16, %r15, 7;\n"
                    "rem.s32 %r17, %r15, 7;\nmad.lo.s32 %r18, %r17, 1000, %r16;\n" +
                        store("%r18"));
     },
     true},
    {"places x basic blocks", "Polly's domains",
     [] {
       std::string text;
       for (int i = 0; i < 30; ++i) {
         text += fmt::format("setp.eq.s32 %p1, %r1, {};\n@%p1 bra S{};\n", 3 * i, i) +
                 fmt::format("add.s32 %r6, %r1, {};\n", 4096 * i) + store("%r6") +
                 fmt::format("S{}:\n", i);
       }
       return text;
     },
     true},
    {"branches x branches", "isl's subtraction of domains",
     [] {
       std::string text = "mov.u32 %r6, %r1;\n";
       for (int i = 0; i < 24; ++i) {
         text += fmt::format(
             "and.b32 %r7, %r1, {};\nsetp.eq.s32 %p1, %r7, 0;\n@%p1 bra S{};\n"
             "add.s32 %r6, %r6, {};\nS{}:\n",
             1 << (i % 9), i, 3 << (i % 20), i);
       }
       return text + store("%r6");
     },
     true},
};

class AnalysisGrowth : public ::testing::TestWithParam<Growth> {};

TEST_P(AnalysisGrowth, StaysWithinWhatAnAnalysisMayTake) {
  const auto module = ptx::parse(kernel(GetParam().body()));
  ASSERT_TRUE(module) << module.error().line();
  auto analysis = KernelAnalysis::create(*module, "grows");
  ASSERT_TRUE(analysis) << analysis.error().line();
  // Two more shapes, so that a family of them is tried.
  for (const uint32_t blocks : {1U << 16U, 1U << 15U, 3U << 14U}) {
    LaunchShape shape{.grid = {blocks, 1, 1}, .block = {96, 1, 1}};
    shape.shape_values.resize((*analysis)->signature().shape_scalars.size(), blocks - 7);
    const Footprint footprint = (*analysis)->footprint(shape);
    ASSERT_FALSE(footprint.opaque());
    const ArgumentFootprint& argument = footprint.arguments.at(0);
    EXPECT_TRUE(argument.may_writes.present() || argument.must_writes.present());
    const Precision widest =
        std::max(argument.may_writes.precision, argument.must_writes.precision);
    EXPECT_EQ(widest != Precision::exact, GetParam().is_widened) << int(widest);
  }
  const Budget::Cost dearest = (*analysis)->dearest();
  EXPECT_GT(dearest.steps, 0U);
  EXPECT_LE(dearest.steps, analysis_cost.steps);
  EXPECT_LE(dearest.bytes, analysis_cost.bytes);
}

INSTANTIATE_TEST_SUITE_P(Rows, AnalysisGrowth, ::testing::ValuesIn(growths));

}  // namespace
}  // namespace sluice::analysis::testing
