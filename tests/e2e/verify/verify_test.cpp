// sluice verify: copies to the host, plain and under Sluice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

Outcome verify(std::vector<std::string> command, const std::vector<std::string>& options = {},
               const std::string& tool = "bin/sluice",
               const std::map<std::string, std::string>& environment = {}) {
  std::vector<std::string> words = {build_path(tool), "verify", "--device", "cpu"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  command.front() = build_path(command.front());
  words.insert(words.end(), command.begin(), command.end());
  return run(words, environment);
}

Outcome copies(const std::string& mode) {
  return verify({"tests/e2e/copies", mode});
}

// One worker runs the tasks in an order that the edges allow, drawn anew for each window: what is
// missing among them shows. Where the device is fast a window may be of one launch, in
// which nothing is missing: so several runs are looked at.
const std::map<std::string, std::string> any_order = {{"SLUICE_STRESS", "1"},
                                                      {"SLUICE_WORKERS", "1"}};
const std::vector<std::string> nbody = {"samples/nbody", "--bodies", "2048", "--steps", "12",
                                        "--block",       "64"};

TEST(Verify, ARuleThatDropsWarIsFoundInNbodyWithBufferAndLaunches) {
  const Outcome outcome =
      verify(nbody, {"--bisect", "--runs", "4"}, "tests/e2e/without_war/bin/sluice", any_order);
  EXPECT_EQ(outcome.status, 1) << outcome.errors;
  EXPECT_THAT(
      outcome.errors,
      ContainsRegex("different: copy 1 to the host \\(cuMemcpyDtoH_v2 of 24576 bytes, after "
                    "launch 24\\): first in its bytes [0-9]+ to [0-9]+"));
  EXPECT_THAT(outcome.errors, ContainsRegex("from bytes [0-9]+ to [0-9]+ of buffer 1 "
                                            "\\(24576 bytes\\)"));
  EXPECT_THAT(
      outcome.errors,
      ContainsRegex("written by update_positions #24 \\(grid 32x1x1, block 64x1x1\\), which "
                    "waits for .*update_speed #23 \\(raw\\)"));
  // What it takes is a launch that reads positions and one that overwrites them.
  EXPECT_THAT(outcome.errors,
              ContainsRegex("it takes these as tasks: launches [0-9]+ to [0-9]+, update_"));
  EXPECT_THAT(outcome.errors, ContainsRegex("SLUICE_EXCLUDE=[0-9,-]+ repeats the last"));
}

TEST(Verify, TheRuleAsItIsIsRightInThatOrder) {
  const Outcome outcome = verify(nbody, {"--runs", "2"}, "bin/sluice", any_order);
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("same: 1 copy to the host (24576 bytes) in 2 runs under "
                                        "Sluice, with 24 of 24 launches as tasks"));
  EXPECT_EQ(lines(outcome.output).size(), 1u) << "of the first run alone: " << outcome.output;
}

TEST(Verify, CopiesOfStreamsAreHashedWhenTheyAreDone) {
  const Outcome outcome = copies("streams");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("same: 8 copies to the host (524288 bytes)"));
}

TEST(Verify, AStreamThatIsFullOfCopiesGoesOn) {
  const Outcome outcome = copies("many");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("same: 1500 copies to the host (6000 bytes)"));
}

TEST(Verify, ThreadsMayMakeThemInAnyOrder) {
  const Outcome outcome = copies("threads");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("same: 8 copies to the host"));
}

TEST(Verify, RectanglesAndBoxesCountRowByRow) {
  const Outcome outcome = copies("boxes");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("same: 2 copies to the host (41984 bytes)"));
}

TEST(Verify, NothingComparedIsNeverTheSame) {
  for (const auto& [mode, why] : std::map<std::string, std::string>{
           {"nothing", "nothing was copied to the host"},
           {"host", "none of 0 launches ran as tasks"},
           {"managed", "what came to the host is not looked at: the host reads managed memory"}}) {
    const Outcome outcome = copies(mode);
    EXPECT_EQ(outcome.status, 5) << mode << ": " << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("nothing was compared: " + why)) << mode;
    EXPECT_THAT(outcome.errors, Not(HasSubstr("same"))) << mode;
  }
  const Outcome excluded =
      verify({"tests/e2e/copies", "streams"}, {}, "bin/sluice", {{"SLUICE_EXCLUDE", "*"}});
  EXPECT_EQ(excluded.status, 5) << excluded.errors;
}

TEST(Verify, AProgramThatChangesFromRunToRunIsNoWitness) {
  const Outcome outcome = copies("changing");
  EXPECT_EQ(outcome.status, 3) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("not deterministic: plain runs differ"));
  EXPECT_THAT(outcome.errors, HasSubstr("copy 2 to the host"));
}

TEST(Verify, AProgramMayExitInTheMidst) {
  EXPECT_EQ(copies("exits").status, 0);
  const Outcome failing = verify({"tests/e2e/copies", "exits", "7"});
  EXPECT_EQ(failing.status, 4) << failing.errors;
  EXPECT_THAT(failing.errors, HasSubstr("ends with status 7, with Sluice and without"));
}

TEST(Verify, WhatCannotBeRunIsNoDifference) {
  EXPECT_EQ(verify({"tests/e2e/no_such_program"}).status, 127);
  EXPECT_EQ(verify({"tests/e2e/copies"}, {"--runs", "0"}).status, 2);
}

}  // namespace
}  // namespace sluice::e2e
