// What Polly assumes of a kernel holds in the launch, or its answer does not count.
#include <gtest/gtest.h>

#include "analysis/kernel_analysis.hpp"
#include "footprint_oracle.hpp"
#include "ptx/parser.hpp"

namespace sluice::analysis::testing {
namespace {

// Block x counts from s = 18 (1 - 5x) to s + 3 in unsigned 64-bit arithmetic, storing to out[x]
// each time, and then to done[x]. From block 1 on s is a large number, since 18 (1 - 5x) is
// negative; it never wraps, so that all its blocks store.
constexpr const char* unsigned_count = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry count(.param .u64 out, .param .u64 done, .param .u32 factor) {
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [done];
  ld.param.u32 %r1, [factor];
  mov.u32 %r2, %ctaid.x;
  mad.lo.s32 %r3, %r2, -5, 1;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  cvt.u64.s32 %rd6, %r3;
  cvt.u64.u32 %rd7, %r1;
  mul.lo.u64 %rd8, %rd6, %rd7;
  add.u64 %rd9, %rd8, 3;
next:
  setp.le.u64 %p1, %rd8, %rd9;
  @!%p1 bra end;
  st.global.u32 [%rd4], %r1;
  add.u64 %rd8, %rd8, 1;
  bra next;
end:
  st.global.u32 [%rd5], %r1;
  ret;
}
)";

TEST(Assumptions, OfUnsignedCountersThatAreNotNegativeAreChecked) {
  const auto module = ptx::parse(unsigned_count);
  ASSERT_TRUE(module) << module.error().line();
  auto analysis = KernelAnalysis::create(*module, "count");
  ASSERT_TRUE(analysis) << analysis.error().line();
  LaunchShape shape{.grid = {5, 1, 1}, .block = {48, 1, 1}};
  shape.shape_values = {18};
  const Footprint footprint = (*analysis)->footprint(shape);
  ASSERT_FALSE(footprint.opaque()) << int(footprint.opaque_reason.why);
  for (const ArgumentFootprint& argument : footprint.arguments) {
    BytesByBlock written = bytes_of(argument.may_writes.relation);
    for (const auto& [block, bytes] : bytes_of(argument.must_writes.relation))
      written[block].insert(bytes.begin(), bytes.end());
    for (int64_t x = 0; x < 5; ++x) {
      EXPECT_EQ(written[Block{x}], (Bytes{4 * x, 4 * x + 1, 4 * x + 2, 4 * x + 3})) << x;
    }
  }
}

}  // namespace
}  // namespace sluice::analysis::testing
