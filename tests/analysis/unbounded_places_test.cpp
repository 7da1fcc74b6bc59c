// Places for which isl knows only bounds beyond 64 bits count as the whole buffer: readers of
// relations count in 64 bits.
#include <gtest/gtest.h>

#include "analysis/kernel_analysis.hpp"
#include "ptx/parser.hpp"
#include "relation/isl_relation.hpp"

namespace sluice::analysis::testing {
namespace {

// Each thread stores to 2 * max(16 * (index & 3) + 5 * n, 13), in unsigned arithmetic.
constexpr const char* masked_index = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry masked(.param .u64 out, .param .u64 n) {
  .reg .b32 %r<5>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u64 %rd3, [n];
  mov.u32 %r1, %ctaid.z;
  mov.u32 %r2, %ntid.z;
  mov.u32 %r3, %tid.z;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %rd4, %r4;
  mov.u32 %r1, %ctaid.x;
  cvt.u64.u32 %rd5, %r1;
  mad.lo.u64 %rd6, %rd5, 12, %rd4;
  and.b64 %rd7, %rd6, 3;
  shl.b64 %rd8, %rd7, 4;
  mad.lo.u64 %rd9, %rd3, 5, %rd8;
  max.u64 %rd10, %rd9, 13;
  shl.b64 %rd10, %rd10, 1;
  add.u64 %rd11, %rd2, %rd10;
  st.global.u16 [%rd11], %r1;
  ret;
}
)";

TEST(UnboundedPlaces, CountAsTheWholeBuffer) {
  const auto module = ptx::parse(masked_index);
  ASSERT_TRUE(module) << module.error().line();
  auto analysis = KernelAnalysis::create(*module, "masked");
  ASSERT_TRUE(analysis) << analysis.error().line();
  LaunchShape shape{.grid = {2, 1, 2}, .block = {5, 3, 2}};
  shape.shape_values = {1};
  const Footprint footprint = (*analysis)->footprint(shape);
  ASSERT_FALSE(footprint.opaque()) << int(footprint.opaque_reason.why);
  for (const Access* access :
       {&footprint.arguments[0].may_writes, &footprint.arguments[0].must_writes}) {
    const std::string text = text_of(access->relation);
    EXPECT_EQ(text.find("18446744073709551"), std::string::npos) << text;
  }
  EXPECT_TRUE(footprint.arguments[0].may_writes.present() ||
              footprint.arguments[0].must_writes.present());
}

}  // namespace
}  // namespace sluice::analysis::testing
