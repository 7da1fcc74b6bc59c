// Variables of a module are buffers: kernels that use them run as tasks, and their dependences are
// found.
#include <set>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

TEST(ModuleVariables, KernelsThatShareThemRunAsTasksInOrder) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const Outcome outcome =
      sluice_run({"--journal", journal}, {build_path("tests/e2e/module_variables")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("PASS module_variables"), std::string::npos) << outcome.output;
  const nlohmann::json figures = inspect_figures(journal);
  EXPECT_EQ(figures["launches"], 36);
  EXPECT_EQ(figures["passed_through"]["count"], 0) << figures;
  // Each launch depends on those before it since the last copy from the host.
  std::set<std::string> pairs;
  for (const nlohmann::json& pair : inspect_list("--pairs", journal))
    pairs.insert(pair["hazards"].get<std::string>());
  EXPECT_GE(figures["resolved"].get<int>(), 33);
  EXPECT_TRUE(pairs.contains("raw")) << figures;
  const Outcome replayed = run({build_path("bin/sluice"), "replay", journal});
  EXPECT_EQ(replayed.output, "identical\n") << replayed.errors;
}

TEST(ModuleVariables, TheirFootprintsHoldUnderTheCheck) {
  const Outcome outcome =
      sluice_run({"--check-footprints"}, {build_path("tests/e2e/module_variables")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
}

TEST(ModuleVariables, HaveTheirFirstValuesFromTheModule) {
  const Outcome outcome =
      run({build_path("bin/sluice"), "check", "--", build_path("tests/e2e/module_variables")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
}

}  // namespace
}  // namespace sluice::e2e
