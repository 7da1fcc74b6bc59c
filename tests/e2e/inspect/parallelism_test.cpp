// `sluice inspect --parallelism` of programs whose figures can be counted by hand.
#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

struct Spans {
  const char* command;
  int work, launch_by_launch, launch_graph, block_graph;
};

void PrintTo(const Spans& shown, std::ostream* stream) {
  *stream << shown.command;
}

class WorkAndSpan : public testing::TestWithParam<Spans> {};

TEST_P(WorkAndSpan, AreThoseOfTheProgramsBlocks) {
  const Spans& expected = GetParam();
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  sample_checksum(sluice_run({"--journal", journal}, program_command(expected.command)));
  const Outcome outcome =
      run({build_path("bin/sluice"), "inspect", journal, "--parallelism", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const nlohmann::json found = nlohmann::json::parse(outcome.output)["blocks"];
  EXPECT_EQ(found["work"], expected.work);
  EXPECT_EQ(found["launch_by_launch"]["span"], expected.launch_by_launch);
  EXPECT_EQ(found["launch_graph"]["span"], expected.launch_graph);
  EXPECT_EQ(found["block_graph"]["span"], expected.block_graph);
  EXPECT_EQ(found["block_graph"]["parallelism"],
            static_cast<double>(expected.work) / expected.block_graph);
}

// The parties' three launches of a step can run at once; a step waits for the one before.
INSTANTIATE_TEST_SUITE_P(
    Programs, WorkAndSpan,
    testing::Values(Spans{"residual", 40, 5, 5, 5},
                    Spans{"stencil --size 64 --iterations 10 --block 8,8", 640, 10, 10, 10},
                    Spans{"expression", 320, 5, 4, 4}, Spans{"readers", 16, 4, 3, 3},
                    Spans{"parties --steps 5", 320, 15, 5, 5}));

}  // namespace
}  // namespace sluice::e2e
