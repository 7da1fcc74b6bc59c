// Programs run by the PTX of the GPU's megakernel, on the CPU device: the same bits as without
// Sluice.
#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

// run_in_megakernel() runs a sample with so many workers; `stress` is the seed of random delays and
// random topological orders, in small windows, or 0.
Outcome run_in_megakernel(const std::vector<std::string>& command, int workers, int stress,
                          const std::string& journal) {
  std::vector<std::string> whole = {build_path("bin/sluice"),
                                    "run",
                                    "--device",
                                    "cpu",
                                    "--megakernel",
                                    "wait",
                                    "--journal",
                                    journal,
                                    "--"};
  whole.insert(whole.end(), command.begin(), command.end());
  return run(whole, {{"SLUICE_WORKERS", std::to_string(workers)},
                     {"SLUICE_STRESS", std::to_string(stress)},
                     {"SLUICE_WINDOW_LAUNCHES", stress == 0 ? "256" : "3"}});
}

struct Case {
  const char* command;
  int workers;
  int stress;
  int kernels;  // of the sample: the first launch of each passes through
};

void PrintTo(const Case& shown, std::ostream* stream) {
  *stream << shown.command << ", " << shown.workers << " workers, stress " << shown.stress;
}

class MegakernelSample : public testing::TestWithParam<Case> {};

TEST_P(MegakernelSample, GivesTheSameBits) {
  const Case& shown = GetParam();
  const std::vector<std::string> command = sample_command(shown.command);
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const std::string plain = sample_checksum(sluice_run({"--off"}, command));
  EXPECT_EQ(sample_checksum(run_in_megakernel(command, shown.workers, shown.stress, journal)),
            plain);
  const nlohmann::json figures = inspect_figures(journal);
  EXPECT_EQ(figures["passed_through"]["count"], shown.kernels) << figures;
  EXPECT_EQ(run({build_path("bin/sluice"), "replay", journal}).output, "identical\n");
}

INSTANTIATE_TEST_SUITE_P(
    Samples, MegakernelSample,
    testing::Values(Case{"stencil --size 64 --iterations 30", 1, 0, 1},
                    Case{"stencil --size 64 --iterations 30", 2, 5, 1},
                    Case{"stencil --size 64 --iterations 30", 16, 6, 1},
                    Case{"stencil_driver --size 100 --iterations 10 --block 16,4", 16, 0, 1},
                    Case{"attention --groups 2 --context 50 --steps 4", 2, 1, 3},
                    Case{"elimination --size 12 --block 4,4", 16, 2, 2},
                    Case{"gemm_chain --rows 50 --size 75 --layers 3", 16, 3, 1},
                    Case{"nbody --bodies 300 --steps 3 --block 64", 2, 4, 2},
                    Case{"residual --layers 3", 16, 5, 5},
                    Case{"heat3d --size 32 --iterations 9 --block 8,4,4", 2, 7, 1},
                    Case{"wave --size 100 --iterations 17 --block 16,16", 16, 8, 1}));

// What lies in a context ends with it, and the kernels' code is loaded anew in the next one.
TEST(MegakernelLife, GoesOnAfterAReset) {
  const Outcome outcome = sluice_run(
      {"--megakernel", "wait"}, {"timeout", "60", build_path("tests/e2e/process_life"), "reset"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "after reset: right\nafter reset: right\nafter reset: right\n")
      << outcome.errors;
}

TEST(MegakernelLife, GoesOnInAnotherContext) {
  const Outcome outcome = sluice_run({"--megakernel", "wait"},
                                     {"timeout", "60", build_path("tests/e2e/driver_life"),
                                      build_path("tests/e2e/driver_life.ptx"), "destroy_contexts"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "right 16\n") << outcome.errors;
}

// The first launch of a kernel never waits for its code: it passes through, and the journal shows
// the switch.
TEST(MegakernelSwitch, IsSeenInTheJournal) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const std::vector<std::string> command = sample_command("stencil --size 64 --iterations 8");
  sample_checksum(run_in_megakernel(command, 2, 0, journal));
  const std::vector<nlohmann::json> launches = inspect_list("--launches", journal);
  ASSERT_EQ(launches.size(), 8U);
  EXPECT_EQ(launches[0]["how"], "passed_through");
  EXPECT_EQ(launches[0]["reason"], "its code for the megakernel is not ready yet");
  for (size_t i = 1; i < launches.size(); ++i) {
    EXPECT_EQ(launches[i]["how"], "tasks") << launches[i];
  }
}

}  // namespace
}  // namespace sluice::e2e
