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

TEST(Explain, TakesAJournalAloneOrWithTheProgramThatWroteIt) {
  const ScratchFolder folder;
  const std::string journal = folder.file("run.journal");
  const std::string program = build_path("samples/residual");
  ASSERT_EQ(sluice_run({"--journal", journal}, {program}).status, 0);
  const Outcome alone = run({build_path("bin/sluice"), "explain", journal, "residual"});
  EXPECT_EQ(alone.status, 0) << alone.errors;
  EXPECT_NE(alone.output.find("launch #3"), std::string::npos) << alone.output;
  EXPECT_NE(alone.output.find("argument 1 (const float *)"), std::string::npos) << alone.output;
  const Outcome both =
      run({build_path("bin/sluice"), "explain", program, "residual", "--launches", journal});
  EXPECT_EQ(both.status, 0) << both.errors;
  EXPECT_NE(both.output.find("in residual.cu"), std::string::npos) << both.output;
  EXPECT_NE(both.output.find("launch #3"), std::string::npos) << both.output;
  const Outcome missing = run({build_path("bin/sluice"), "explain", journal, "--launch", "99"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.errors.find("no launch 99"), std::string::npos) << missing.errors;
}

TEST(Explain, RefusesAnArgumentThatIsNone) {
  const std::string program = build_path("samples/stencil");
  const Outcome text = run({build_path("bin/sluice"), "explain", program, "--arg", "n=3"});
  EXPECT_EQ(text.status, 2);
  EXPECT_NE(text.errors.find("NUMBER=VALUE"), std::string::npos) << text.errors;
  EXPECT_EQ(run({build_path("bin/sluice"), "explain", program, "--arg", "9=3"}).status, 2);
}

}  // namespace
}  // namespace sluice::e2e
