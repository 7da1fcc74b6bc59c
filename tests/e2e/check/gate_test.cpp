// sluice check as a gate: what its exit status says, the forms of its report, what it leaves out.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/scratch_folder.hpp"
#include "e2e/check/check.hpp"

namespace sluice::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> faulty = seeded("bounds", "no-guard", false);
const std::vector<std::string> right = seeded("bounds", "no-guard", true);
// All that Sluice knows of its launch is a part.
const std::vector<std::string> in_part = seeded("block_races", "lost-updates", true);

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Gate : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.file(name); }
  ScratchFolder scratch_;
};

TEST_F(Gate, TheExitStatusTellsFaultsTooLittleAndTheProgramsOwnApart) {
  EXPECT_EQ(check(faulty).status, 87);
  EXPECT_EQ(check(faulty, {"--error-exitcode", "9"}).status, 9);
  EXPECT_EQ(check(right, {"--require-checked", "100%"}).status, 0);
  EXPECT_EQ(check(in_part).status, 0);
  EXPECT_EQ(check(in_part, {"--require-checked", "95%"}).status, 88);
  EXPECT_EQ(check({"/bin/sh", "-c", "exit 3"}).status, 3);
  EXPECT_EQ(check({"/bin/sh", "-c", "kill -SEGV $$"}).status, 128 + 11);
}

TEST_F(Gate, ItNeverSaysNoFaultWhereNothingWasChecked) {
  const Outcome shell = check({"/bin/sh", "-c", "true"}, {"--require-checked", "1%"});
  EXPECT_EQ(shell.status, 88);
  EXPECT_THAT(shell.errors, HasSubstr("nothing is known of how much was checked"));
  const Outcome outcome = check(in_part);
  EXPECT_THAT(outcome.errors, HasSubstr("none of them could be checked whole"));
  EXPECT_THAT(outcome.errors, HasSubstr("1 launch checked in part: it has atomics"));
  for (const std::string& errors : {shell.errors, outcome.errors})
    EXPECT_THAT(errors, Not(HasSubstr("no fault found")));
}

TEST_F(Gate, ARefusedPercentageIsTold) {
  for (const char* percent : {"most", "101", "-1", "5x"}) {
    const Outcome outcome = check(right, {"--require-checked=" + std::string(percent)});
    EXPECT_EQ(outcome.status, 2) << percent;
    EXPECT_THAT(outcome.errors, HasSubstr("--require-checked takes a percentage")) << percent;
  }
}

TEST_F(Gate, OnlyTheKindsThatAreAskedForCount) {
  EXPECT_EQ(check(faulty, {"--only", "races,init"}).status, 0);
  EXPECT_EQ(check(faulty, {"--only", "memory"}).status, 87);
  EXPECT_EQ(check(faulty, {"--only", "luck"}).status, 2);
}

TEST_F(Gate, PatternsLeaveFaultsOut) {
  for (const char* pattern : {"memory", "out-of-*", "fill", "bounds.cu:*", "*bytes 400 to 511*"}) {
    const Outcome outcome = check(faulty, {"--suppress", "no such", "--suppress", pattern});
    EXPECT_EQ(outcome.status, 0) << pattern << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("1 fault suppressed")) << pattern;
  }
  EXPECT_EQ(check(faulty, {"--suppress", "filled"}).status, 87);
  std::ofstream(path("patterns")) << "# of the old solver\n\nfill  \n";
  EXPECT_EQ(check(faulty, {"--suppressions", path("patterns")}).status, 0);
  EXPECT_EQ(check(faulty, {"--suppressions", path("none")}).status, 2);
}

TEST_F(Gate, ABaselineLeavesOutWhatItHas) {
  EXPECT_EQ(check(faulty, {"--write-baseline", path("known")}).status, 0);
  EXPECT_EQ(check(faulty, {"--baseline", path("known")}).status, 0);
  EXPECT_EQ(check(seeded("bounds", "off-by-one", false), {"--baseline", path("known")}).status, 87);
}

TEST_F(Gate, TheReportIsJson) {
  EXPECT_EQ(check(faulty, {"--format", "json", "--output", path("report")}).status, 87);
  const json report = json::parse(text_of(path("report")));
  ASSERT_EQ(report.at("faults").size(), 1u);
  const json& fault = report.at("faults")[0];
  EXPECT_EQ(fault.at("kind"), "memory");
  EXPECT_EQ(fault.at("rule"), "out-of-bounds");
  EXPECT_THAT(fault.at("file").get<std::string>(), HasSubstr("bounds.cu"));
  EXPECT_EQ(report.at("checked").at("launches"), 1);
  EXPECT_EQ(report.at("checked").at("percent"), 100);
  EXPECT_EQ(report.at("status"), 87);
}

TEST_F(Gate, TheReportIsSarif) {
  check(faulty, {"--format", "sarif", "--output", path("report")});
  const json report = json::parse(text_of(path("report")));
  EXPECT_EQ(report.at("version"), "2.1.0");
  const json& result = report.at("runs")[0].at("results")[0];
  EXPECT_EQ(result.at("ruleId"), "out-of-bounds");
  EXPECT_EQ(result.at("level"), "error");
  const json& place = result.at("locations")[0].at("physicalLocation");
  EXPECT_THAT(place.at("artifactLocation").at("uri").get<std::string>(), HasSubstr("bounds.cu"));
  EXPECT_EQ(place.at("region").at("startLine"), 7);
}

TEST_F(Gate, TheReportIsJUnits) {
  check(faulty, {"--format", "junit", "--output", path("report")});
  const std::string report = text_of(path("report"));
  EXPECT_THAT(report, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"));
  EXPECT_THAT(report, HasSubstr("tests=\"3\" failures=\"1\" errors=\"0\""));
  EXPECT_THAT(report,
              HasSubstr("<failure type=\"out-of-bounds\" message=\"out of bounds: fill writes"));
  // What the schema of Ant's reports asks for beside.
  for (const char* needed : {" timestamp=\"20", " hostname=\"", " time=\"0\"", " id=\"0\"",
                             " package=", "<properties/>", "<system-out/>", "<system-err/>"})
    EXPECT_THAT(report, HasSubstr(needed));
}

TEST_F(Gate, TheReportIsAnnotations) {
  const Outcome outcome = check(faulty, {"--format", "github"});
  EXPECT_THAT(outcome.errors, HasSubstr("bounds.cu,line=7,title=sluice%3A out-of-bounds::"));
  EXPECT_THAT(outcome.errors, HasSubstr("which has 400:%0A"));
}

TEST_F(Gate, AReportIsThereWhereTheProgramIsEnded) {
  const std::string command = faulty[0] + " no-guard wrong; kill -KILL $$";
  const Outcome outcome = check({"/bin/sh", "-c", command});
  EXPECT_EQ(outcome.status, 87);
  EXPECT_THAT(outcome.errors, HasSubstr("writes bytes 400 to 511"));
  EXPECT_THAT(outcome.errors, HasSubstr("the program was ended by signal 9"));
}

TEST_F(Gate, ProcessesThatFindTheSameAreOneFault) {
  const std::string command = faulty[0] + " no-guard wrong; " + faulty[0] + " no-guard wrong";
  const Outcome outcome = check({"/bin/sh", "-c", command});
  EXPECT_THAT(outcome.errors, HasSubstr("found by 2 processes"));
  EXPECT_THAT(outcome.errors, HasSubstr("checked 2 launches and 0 copies: 1 fault"));
}

}  // namespace
}  // namespace sluice::e2e
