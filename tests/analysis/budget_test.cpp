// Kernels too large for Polly get a coarser footprint that still has every access; and what makes
// large kernels small.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/kernel_analysis.hpp"
#include "footprint_oracle.hpp"
#include "ptx/parser.hpp"

namespace sluice::analysis::testing {
namespace {

// conditional_stores() stores to word i of its argument where the word 4096 bytes on is not zero,
// for each i below `count`: a basic block each.
std::string conditional_stores(unsigned count) {
  std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry many(.param .u64 p) {\n"
      ".reg .b64 %rd<3>; .reg .b32 %r<2>; .reg .pred %c;\n"
      "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n";
  for (unsigned i = 0; i < count; ++i) {
    text += fmt::format(
        "ld.global.u32 %r1, [%rd2+{}];\nsetp.eq.u32 %c, %r1, 0;\n@%c bra L{};\n"
        "st.global.u32 [%rd2+{}], %r1;\nL{}:\n",
        4096 + 4 * i, i, 4 * i, i);
  }
  return text + "ret;\n}\n";
}

// Where isl has no budget either, the whole buffer stands for the words.
void expect_words(const Access& access, unsigned count) {
  ASSERT_NE(access.precision, Precision::exact);
  if (access.precision == Precision::whole_buffer) return;
  const Block block = {1, 0, 0};
  EXPECT_EQ(bytes_of(access.relation)[block].size(), 4 * count);
}

void expect_all_stores(unsigned count) {
  const auto module = ptx::parse(conditional_stores(count));
  ASSERT_TRUE(module) << module.error().line();
  auto analysis = KernelAnalysis::create(*module, "many");
  ASSERT_TRUE(analysis) << analysis.error().line();
  const Footprint footprint = (*analysis)->footprint({.grid = {2, 1, 1}, .block = {32, 1, 1}});
  ASSERT_FALSE(footprint.opaque()) << int(footprint.opaque_reason.why);
  ASSERT_EQ(footprint.arguments.size(), 1u);
  const ArgumentFootprint& argument = footprint.arguments[0];
  EXPECT_FALSE(argument.must_writes.present());
  expect_words(argument.may_writes, count);
  expect_words(argument.reads, count);
}

TEST(AnalysisBudget, AKernelOfTooManyBlocksForPollyKeepsEveryAccess) {
  expect_all_stores(200);
}

TEST(AnalysisBudget, AKernelOfTooManyAccessesForPollyKeepsEveryAccess) {
  expect_all_stores(600);
}

// columns() adds up word t of each of `count` rows of 1024 words, and writes the sum to word t of a
// last row; t is computed in 32 bits, as compilers do.
std::string columns(unsigned count) {
  std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry columns(.param .u64 p) {\n"
      ".reg .b64 %rd<5>; .reg .b32 %r<10>;\n"
      "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n"
      "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
      "mad.lo.s32 %r4, %r1, %r2, %r3;\nmov.u32 %r5, 0;\n";
  for (unsigned i = 0; i <= count; ++i) {
    text += fmt::format(
        "add.s32 %r6, %r4, {};\nmul.wide.s32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd2, %rd3;\n", 1024 * i);
    text += i < count ? "ld.global.u32 %r7, [%rd4];\nadd.s32 %r5, %r5, %r7;\n"
                      : "st.global.u32 [%rd4], %r5;\n";
  }
  return text + "ret;\n}\n";
}

TEST(AnalysisBudget, ManyAccessesAtFixedDistancesAreExact) {
  for (const unsigned count : {3u, 20u, 400u}) {
    const auto module = ptx::parse(columns(count));
    ASSERT_TRUE(module) << module.error().line();
    auto analysis = KernelAnalysis::create(*module, "columns");
    ASSERT_TRUE(analysis) << analysis.error().line();
    const Footprint footprint = (*analysis)->footprint({.grid = {3, 1, 1}, .block = {32, 1, 1}});
    ASSERT_EQ(footprint.arguments.size(), 1u);
    const ArgumentFootprint& argument = footprint.arguments[0];
    BytesByBlock reads, writes;
    for (int64_t block = 0; block < 3; ++block) {
      for (int64_t row = 0; row <= count; ++row) {
        BytesByBlock& touched = row < count ? reads : writes;
        for (int64_t byte = 0; byte < 128; ++byte)
          touched[{block, 0, 0}].insert(4096 * row + 128 * block + byte);
      }
    }
    EXPECT_EQ(argument.reads.precision, Precision::exact) << int(argument.reads.reason.why);
    EXPECT_EQ(argument.must_writes.precision, Precision::exact)
        << int(argument.must_writes.reason.why);
    EXPECT_EQ(bytes_of(argument.reads.relation), reads);
    EXPECT_EQ(bytes_of(argument.must_writes.relation), writes);
  }
}

}  // namespace
}  // namespace sluice::analysis::testing
