// Values that only look like addresses.
#include <gtest/gtest.h>

#include "analysis/kernel_analysis.hpp"
#include "footprint_oracle.hpp"
#include "ptx/parser.hpp"

namespace sluice::analysis::testing {
namespace {

// A double that goes round two loops and is looked at as 64 bits: its phis refer to each other.
constexpr const char* doubles_as_bits = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry bits(.param .u64 p, .param .u32 n) {
.reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .f64 %fd<4>; .reg .pred %c<3>;
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd3, %r2, 8;
add.s64 %rd4, %rd2, %rd3;
mov.f64 %fd1, 0d0000000000000000;
mov.u32 %r3, 0;
LOOP:
and.b32 %r4, %r3, 1;
setp.eq.u32 %c1, %r4, 0;
@%c1 bra SKIP;
add.f64 %fd1, %fd1, 0d3FF0000000000000;
SKIP:
mov.b64 %rd5, %fd1;
st.global.u64 [%rd4], %rd5;
add.u32 %r3, %r3, 1;
setp.lt.u32 %c2, %r3, %r1;
@%c2 bra LOOP;
ret;
}
)";

TEST(RegisterPairs, DoublesThatGoRoundALoopAsBitsAreNoAddresses) {
  const auto module = ptx::parse(doubles_as_bits);
  ASSERT_TRUE(module) << module.error().line();
  auto analysis = KernelAnalysis::create(*module, "bits");
  ASSERT_TRUE(analysis) << analysis.error().line();
  const Footprint footprint =
      (*analysis)->footprint({.grid = {1, 1, 1}, .block = {4, 1, 1}, .shape_values = {5}});
  ASSERT_FALSE(footprint.opaque()) << int(footprint.opaque_reason.why);
  ASSERT_EQ(footprint.arguments.size(), 1u);
  EXPECT_EQ(footprint.arguments[0].must_writes.precision, Precision::exact);
  EXPECT_EQ(bytes_of(footprint.arguments[0].must_writes.relation)[(Block{0, 0, 0})].size(), 32u);
}

}  // namespace
}  // namespace sluice::analysis::testing
