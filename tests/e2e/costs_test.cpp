// What finding dependences takes stays within what a launch may cost, and an analysis within what
// that may, counted by the runtime itself; and nothing of these programs needs more: no launch is
// given up.
#include "dro/launches/costs.hpp"

#include <regex>

#include <gtest/gtest.h>

#include "analysis/analysis_cost.hpp"
#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

struct Spent {
  Budget::Cost launch;
  Budget::Cost footprint;
  uint64_t given_up = 0;
  Budget::Cost analysis;
};

// spent() is what a process with SLUICE_LOG=debug says when it ends.
std::optional<Spent> spent(const std::string& log) {
  static const std::regex line(
      "dependences took at most (\\d+) steps and (\\d+) bytes a launch, (\\d+) and (\\d+) a "
      "footprint; (\\d+) launches were given up\\s+"
      "sluice: an analysis took at most (\\d+) steps and (\\d+) bytes");
  std::smatch found;
  if (!std::regex_search(log, found, line)) return std::nullopt;
  const auto number = [&](size_t group) { return std::stoull(found[group]); };
  return Spent{{number(1), number(2)}, {number(3), number(4)}, number(5), {number(6), number(7)}};
}

void expect_within_costs(const Outcome& outcome) {
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const std::optional<Spent> found = spent(outcome.errors);
  ASSERT_TRUE(found.has_value()) << outcome.errors;
  EXPECT_GT(found->footprint.steps, 0u);
  EXPECT_LE(found->launch.steps, dro::launch_cost.steps);
  EXPECT_LE(found->launch.bytes, dro::launch_cost.bytes);
  EXPECT_LE(found->footprint.steps, dro::footprint_cost.steps);
  EXPECT_LE(found->footprint.bytes, dro::footprint_cost.bytes);
  EXPECT_GT(found->analysis.steps, 0u);
  EXPECT_LE(found->analysis.steps, analysis::analysis_cost.steps);
  EXPECT_LE(found->analysis.bytes, analysis::analysis_cost.bytes);
  EXPECT_EQ(found->given_up, 0u);
}

// Everything is found, however long that takes.
const std::map<std::string, std::string> told = {{"SLUICE_LOG", "debug"},
                                                 {"SLUICE_ANALYSIS", "wait"},
                                                 {"SLUICE_ANALYSIS_CACHE", "off"},
                                                 {"SLUICE_GOVERNOR", "off"}};

class Costs : public testing::TestWithParam<const char*> {};

TEST_P(Costs, AreWhatALaunchMayTake) {
  std::vector<std::string> command = {build_path("bin/sluice"), "run", "--device", "cpu", "--"};
  for (const std::string& word : program_command(GetParam()))
    command.push_back(word);
  expect_within_costs(run(command, told));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Costs,
    testing::Values("attention", "elimination --size 96 --block 16,16", "gemm_chain",
                    "heat3d --size 64 --iterations 4", "nbody --steps 3", "residual",
                    "stencil --size 1024 --iterations 4", "wave --size 512 --iterations 4",
                    "expression", "finished_producer", "fork_join --graph 1", "in_place",
                    "partial_overwrite --read 0,100", "parties",
                    "producer_consumer --producers 16 --consumers 24", "producers", "readers",
                    "reallocated", "dear_pairs pixels", "dear_pairs gathered", "dear_pairs wraps",
                    "dear_pairs torus", "dear_pairs copies", "dear_pairs linear"));

TEST(CostsOfRandomPrograms, AreWhatALaunchMayTake) {
  std::map<std::string, std::string> environment = told;
  environment["SLUICE_RANDOM_PROGRAMS"] = "200";
  expect_within_costs(run({build_path("tests/random_programs_test"),
                           "--gtest_filter=RandomPrograms.GiveTheSameBytesOneAfterTheOther"},
                          environment));
}

}  // namespace
}  // namespace sluice::e2e
