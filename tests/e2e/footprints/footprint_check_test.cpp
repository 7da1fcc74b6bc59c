// The footprint check end to end: what it says and how the program ends where a block leaves its
// footprint, and what a journal holds of kernels that stay inside.
#include <fstream>
#include <regex>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

const std::string program = build_path("tests/e2e/out_of_bounds");

// line_of() is one line of a text file, counted from 1.
std::string line_of(const std::string& path, int number) {
  std::ifstream file(path);
  std::string line;
  for (int i = 0; i < number; ++i)
    std::getline(file, line);
  return line;
}

void expect_violation(const Outcome& outcome) {
  EXPECT_EQ(outcome.status, 86) << outcome.output << outcome.errors;
  const std::vector<std::string> errors = lines(outcome.errors);
  ASSERT_EQ(errors.size(), 2u) << outcome.errors;
  std::smatch match;
  ASSERT_TRUE(std::regex_search(
      errors[0], match,
      std::regex("kernel gather, PTX line ([0-9]+): block \\(2, 0, 0\\) reads 4 bytes outside its "
                 "footprint: byte 12 of argument gather_param_2$")))
      << errors[0];
  const std::string instruction =
      line_of(build_path("tests/e2e/out_of_bounds.ptx"), std::stoi(match[1]));
  EXPECT_TRUE(std::regex_search(instruction, std::regex("ld\\.global.*\\.f32")))
      << match[1] << ": " << instruction;
  EXPECT_NE(errors[1].find("1 access does not agree"), std::string::npos) << errors[1];
}

TEST(FootprintCheck, EndsAProgramThatLeavesItsFootprintWithTheWholePlace) {
  expect_violation(sluice_run({"--check-footprints"}, {program}));
  expect_violation(run({program}, {{"LD_PRELOAD", build_path("lib/libsluice.so") + ":" +
                                                      build_path("lib/cpu/libcudart.so.13")},
                                   {"SLUICE_DEVICE", "cpu"},
                                   {"SLUICE_CHECK_FOOTPRINTS", "1"}}));
}

TEST(FootprintCheck, IsOffUnlessAskedFor) {
  const Outcome outcome = run({build_path("bin/sluice"), "run", "--device", "cpu", "--", program},
                              {{"SLUICE_CHECK_FOOTPRINTS", "0"}});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
}

TEST(FootprintCheck, CountsTheViolationInTheJournal) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  sluice_run({"--check-footprints", "--journal", journal}, {program});
  const nlohmann::json checks = inspect_figures(journal)["checks"];
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0]["kernel"], "gather");
  EXPECT_EQ(checks[0]["violations"], 1);
  EXPECT_EQ(checks[0]["blocks"], 4);
}

// The kernels of the table, launched as a program launches them.
class CheckedKernels : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome outcome =
        sluice_run({"--check-footprints", "--journal", journal_},
                   {build_path("tests/kernel_table_test"), "--gtest_filter=*LaunchesAsAProgram*"});
    ASSERT_EQ(outcome.status, 0) << outcome.output << outcome.errors;
  }

  const ScratchFolder scratch_;
  const std::string journal_ = scratch_.file("journal");
};

TEST_F(CheckedKernels, StayInTheirFootprintsAndTheJournalSaysHowTightTheseAre) {
  std::map<std::string, nlohmann::json> checks;
  const nlohmann::json figures = inspect_figures(journal_);
  for (const nlohmann::json& check : figures["checks"]) {
    EXPECT_EQ(check["violations"], 0) << check;
    checks[check["kernel"]] = check;
  }
  EXPECT_GE(checks.size(), 80u);
  // Exact: thirty floats in four blocks, all touched.
  const nlohmann::json thirty = {120, 120};
  const nlohmann::json& saxpy = checks["saxpy"];
  EXPECT_EQ(saxpy["unchecked"], 0);
  EXPECT_EQ(saxpy["blocks"], 4);
  EXPECT_EQ(saxpy["arguments"][0]["reads"], thirty);
  EXPECT_EQ(saxpy["arguments"][1]["reads"], thirty);
  EXPECT_EQ(saxpy["arguments"][1]["writes"], thirty);
  EXPECT_EQ(saxpy["arguments"][1]["must_writes"], 120);
  // Bounded: each of four blocks may look up any of 256 floats, and thirty threads look up one.
  const nlohmann::json& lookup = checks["byte_lookup"];
  EXPECT_EQ(lookup["arguments"][1]["reads"], (nlohmann::json{120, 4096}));
  EXPECT_EQ(lookup["arguments"][2]["writes"], thirty);
  // Opaque: counted, not checked.
  EXPECT_EQ(checks["grid_barrier"]["unchecked"], 1);
  EXPECT_EQ(checks["grid_barrier"]["blocks"], 0);

  const Outcome table = run({build_path("bin/sluice"), "inspect", journal_});
  const auto has = [&](const char* pattern) {
    return std::regex_search(table.output, std::regex(pattern));
  };
  EXPECT_TRUE(has("\n *saxpy +1 +0 +4 +0 +saxpy_param_0 +100\\.0 % of 120 +-"));
  EXPECT_TRUE(has("\n +saxpy_param_1 +100\\.0 % of 120 +100\\.0 % of 120"));
  EXPECT_TRUE(has("\n +byte_lookup_param_1 +2\\.9 % of 4096 +-"));
}

}  // namespace
}  // namespace sluice::e2e
