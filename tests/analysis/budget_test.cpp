// Kernels too large for Polly get a coarser footprint that still has every access.
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
  ASSERT_FALSE(footprint.opaque()) << footprint.opaque_reason;
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

}  // namespace
}  // namespace sluice::analysis::testing
