// sluice explain on programs, fat binaries and PTX text.
#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

TEST(Explain, NamesKernelArgumentsAndAccessesOfAProgram) {
  const Outcome outcome = run({build_path("bin/sluice"), "explain", build_path("samples/stencil")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("stencil"), std::string::npos);
  EXPECT_NE(outcome.output.find("reads"), std::string::npos);
  EXPECT_NE(outcome.output.find("writes"), std::string::npos);
}

TEST(Explain, TakesOneKernelAndSaysWhereThereIsNone) {
  const std::string program = build_path("samples/stencil");
  EXPECT_EQ(run({build_path("bin/sluice"), "explain", program, "stencil"}).status, 0);
  const Outcome missing = run({build_path("bin/sluice"), "explain", program, "stencyl"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(lines(missing.errors).size(), 1) << missing.errors;
  EXPECT_NE(missing.errors.find("stencyl"), std::string::npos) << missing.errors;
}

}  // namespace
}  // namespace sluice::e2e
