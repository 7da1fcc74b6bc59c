// Every program of this tree that launches kernels leaves a journal that replays bit for bit; and
// the gate is one that can fail: a second implementation of fan-in, with one rule changed, does not
// pass it.
#include <filesystem>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

class EveryProgram : public testing::TestWithParam<const char*> {};

TEST_P(EveryProgram, LeavesAJournalThatReplaysIdentically) {
  const std::vector<std::string> command = program_command(GetParam());
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const Outcome outcome = sluice_run({"--journal", journal}, command);
  EXPECT_EQ(outcome.status, 0) << outcome.output << outcome.errors;
  EXPECT_GT(inspect_figures(journal)["launches"], 0);
  const Outcome replayed = run({build_path("bin/sluice"), "replay", journal});
  EXPECT_EQ(replayed.status, 0);
  EXPECT_EQ(replayed.output, "identical\n") << replayed.errors;
}

// The known cases and the samples' other shapes are replayed by their own tests.
INSTANTIATE_TEST_SUITE_P(
    Programs, EveryProgram,
    testing::Values("stencil --size 200 --iterations 12 --block 16,8",
                    "stencil_driver --size 200 --iterations 12 --block 16,8",
                    "heat3d --size 24 --iterations 5 --block 8,4,4",
                    "wave --size 120 --iterations 9 --block 16,16", "attention --steps 2",
                    "gemm_chain --rows 64 --size 96 --layers 4", "nbody --bodies 512 --steps 5",
                    "residual --layers 4", "elimination --size 16 --block 8,8", "cudart_vector_add",
                    "cudart_symbols", "cudart_streams", "cudart_managed", "cudart_pitched",
                    "cudart_per_thread", "cudart_device_linked"));

class Gate : public testing::Test {
 protected:
  void record(const std::string& name) {
    sample_checksum(sluice_run({"--journal", journal_, "--trace"},
                               {build_path("tests/e2e/known_cases/" + name)}));
  }
  Outcome changed(std::vector<std::string> command) const {
    command.insert(command.begin(), build_path("tests/e2e/sluice_changed_rule"));
    return run(command);
  }

  ScratchFolder scratch_;
  std::string journal_ = scratch_.file("journal");
};

TEST_F(Gate, NamesTheLaunchForWhichAChangedRuleFindsOtherMasters) {
  record("readers");
  const Outcome outcome = changed({"replay", journal_});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output, "");
  ASSERT_EQ(lines(outcome.errors).size(), 1u) << outcome.errors;
  EXPECT_NE(outcome.errors.find(" (launch 4): the journal says "), std::string::npos)
      << outcome.errors;
}

// What inspect writes to files is drawn from dependences that replay; from others nothing appears.
TEST_F(Gate, LetsNoFileAppearWhereItFails) {
  record("readers");
  for (const char* option : {"--html", "--trace"}) {
    const std::string file = scratch_.file("file");
    const Outcome outcome = changed({"inspect", journal_, option, file});
    EXPECT_EQ(outcome.status, 1) << option;
    EXPECT_NE(outcome.errors.find(" (launch 4): the journal says "), std::string::npos)
        << outcome.errors;
    EXPECT_EQ(lines(outcome.errors).size(), 1u) << outcome.errors;
    EXPECT_FALSE(std::filesystem::exists(file)) << option;
    EXPECT_FALSE(std::filesystem::exists(file + ".part")) << option;
    // The tool itself makes the same file of the same journal.
    EXPECT_EQ(run({build_path("bin/sluice"), "inspect", journal_, option, file}).status, 0);
    EXPECT_TRUE(std::filesystem::exists(file)) << option;
    std::filesystem::remove(file);
  }
}

TEST_F(Gate, PassesWhereTheChangedRuleMakesNoDifference) {
  record("in_place");
  EXPECT_EQ(changed({"replay", journal_}).output, "identical\n");
}

}  // namespace
}  // namespace sluice::e2e
