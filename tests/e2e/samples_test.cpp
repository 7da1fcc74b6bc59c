// Every sample gives the answer of its own CPU reference, the same bits plain and under Sluice, and
// a journal that replays identically.
#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

class Sample : public testing::TestWithParam<const char*> {};

TEST_P(Sample, AnswersTheSamePlainAndUnderSluice) {
  const std::vector<std::string> command = sample_command(GetParam());
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const std::string plain = sample_checksum(sluice_run({"--off"}, command));
  EXPECT_EQ(sample_checksum(sluice_run({"--journal", journal}, command)), plain);
  EXPECT_EQ(inspect_figures(journal)["passed_through"]["count"], 0);
  const Outcome replayed = run({build_path("bin/sluice"), "replay", journal});
  EXPECT_EQ(replayed.output, "identical\n") << replayed.errors;
}

INSTANTIATE_TEST_SUITE_P(Samples, Sample,
                         testing::Values("heat3d --size 32 --iterations 9 --block 8,4,4",
                                         "wave --size 100 --iterations 17 --block 16,16"));

TEST(SampleOptions, AreRefusedWithTheUsageWhereTheyAreWrong) {
  for (const char* line : {"wave --size 0", "wave --size", "wave --block 16", "wave --nothing 1",
                           "heat3d --block 32,32,2"}) {
    const Outcome outcome = run(sample_command(line));
    EXPECT_EQ(outcome.status, 2) << line;
    EXPECT_EQ(outcome.output, "") << line;
    EXPECT_EQ(lines(outcome.errors).size(), 1u) << outcome.errors;
  }
}

}  // namespace
}  // namespace sluice::e2e
