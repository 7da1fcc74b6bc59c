// The text of sluice explain: readable, with its example stated.
#include "analysis/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "footprint_oracle.hpp"

namespace sluice::analysis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const char* kernel) {
  const auto text = explain(kernels(), kernel);
  return text ? *text : text.error().line();
}

TEST(Explain, SaysWhatABlockReadsAndWritesForAStatedExample) {
  const std::string text = text_of("scale");
  EXPECT_THAT(text, HasSubstr("kernel scale\n"));
  EXPECT_THAT(text, HasSubstr("shape scalars: parameter 2\n"));
  EXPECT_THAT(text, HasSubstr("example: grid (4, 1, 1), block (64, 1, 1), parameter 2 = 256"));
  EXPECT_THAT(text, HasSubstr("reads\n      block (1, 0, 0): 256 bytes in 1 range: [256, 512)"));
  EXPECT_THAT(text, HasSubstr("{ B[x, y = 0, z = 0] -> A[o] :"));
}

TEST(Explain, NamesTheInstructionThatMadeAnAccessUnbounded) {
  EXPECT_THAT(text_of("scatter"),
              HasSubstr("may write any byte of the buffer: the address at PTX"));
  EXPECT_THAT(text_of("spin"), HasSubstr("opaque: a loop waits"));
}

TEST(Explain, AllKernelsOrOneOrAnError) {
  const auto all = explain(kernels());
  ASSERT_TRUE(all) << all.error().line();
  EXPECT_THAT(*all, HasSubstr("kernel gemm\n"));
  EXPECT_THAT(*all, HasSubstr("kernel two_parts\n"));
  EXPECT_THAT(text_of("gemm"), Not(HasSubstr("kernel tiled_gemm")));
  const auto missing = explain(kernels(), "gem");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().line(), HasSubstr("gem"));
}

}  // namespace
}  // namespace sluice::analysis::testing
