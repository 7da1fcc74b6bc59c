#include "report/recorder.hpp"

#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

namespace sluice::gpu_probe {
namespace {

TEST(Recorder, SaysWhatIsExpectedBeforeAnythingIsMeasured) {
  Report report;
  std::ostringstream out;
  Recorder recorder(report, out);
  recorder.begin(4, "Barriers", "some 20 cycles");
  EXPECT_NE(out.str().find("4. Barriers\nExpected: some 20 cycles\n"), std::string::npos);
  EXPECT_EQ(report.probes.at(0).expectation, "some 20 cycles");
  EXPECT_TRUE(report.probes.at(0).rows.empty());
}

TEST(Recorder, PrintsAndKeepsEachRowAtOnce) {
  Report report;
  std::ostringstream out;
  Recorder recorder(report, out);
  recorder.begin(4, "Barriers", "-");
  recorder.row("bar.sync 0", "cycles", {20, 22, 21}, {8, 110});
  EXPECT_NE(out.str().find("bar.sync 0"), std::string::npos);
  EXPECT_NE(out.str().find("as expected"), std::string::npos);
  recorder.note("a note");
  EXPECT_NE(out.str().find("a note\n"), std::string::npos);
  ASSERT_EQ(report.probes.at(0).rows.size(), 1u);
  EXPECT_EQ(report.probes.at(0).rows[0].summary.median, 21);
  EXPECT_EQ(report.probes.at(0).notes.at(0), "a note");
}

TEST(Recorder, RowsGoToTheOpenProbe) {
  Report report;
  std::ostringstream out;
  Recorder recorder(report, out);
  recorder.begin(1, "one", "-");
  recorder.row("a", "us", {1});
  recorder.begin(2, "two", "-");
  recorder.row("b", "us", {2});
  EXPECT_EQ(report.probes.at(0).rows.at(0).name, "a");
  EXPECT_EQ(report.probes.at(1).rows.at(0).name, "b");
}

TEST(Recorder, AFailureStaysWithItsProbeAndTheRun) {
  Report report;
  std::ostringstream out;
  Recorder recorder(report, out);
  recorder.begin(1, "one", "-");
  EXPECT_FALSE(recorder.failed());
  recorder.fail("a wait ran out");
  recorder.begin(2, "two", "-");
  EXPECT_TRUE(recorder.failed());
  EXPECT_EQ(report.probes[0].failure, "a wait ran out");
  EXPECT_EQ(report.probes[1].failure, "");
}

TEST(Recorder, ARowBeforeAnyProbeIsAMistake) {
  Report report;
  std::ostringstream out;
  Recorder recorder(report, out);
  EXPECT_THROW(recorder.note("x"), std::logic_error);
}

}  // namespace
}  // namespace sluice::gpu_probe
