#include "report/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::gpu_probe {
namespace {

Report example() {
  Row expected;
  expected.name = "st.release, 1 lane";
  expected.unit = "ns one-way";
  expected.summary = summarize({300, 310, 320, 330, 2000});
  expected.expected = {150, 1200};
  Row finding = expected;
  finding.name = "ld.nc";
  finding.expected = {};
  ProbeRecord probe;
  probe.number = 3;
  probe.title = "Flags";
  probe.expectation = "an L2 round trip";
  probe.rows = {expected, finding};
  probe.notes = {"took 0.1 s"};
  Report report;
  report.gpu = "NVIDIA H100 80GB HBM3";
  report.date = "2025-01-31";
  report.facts = {{"driver", "580.1"}, {"SM clock as found", "1980 MHz"}};
  report.probes = {probe};
  return report;
}

TEST(Report, VerdictComparesTheMedian) {
  Row row = example().probes[0].rows[0];
  EXPECT_EQ(row.verdict(), "as expected");
  row.expected = {400, 500};
  EXPECT_EQ(row.verdict(), "below");
  row.expected = {1, 319};
  EXPECT_EQ(row.verdict(), "above");
  row.expected = {320, 320};
  EXPECT_EQ(row.verdict(), "as expected");
  row.expected = {};
  EXPECT_EQ(row.verdict(), "finding");
}

TEST(Report, JsonHoldsEverything) {
  const auto json = nlohmann::json::parse(to_json(example()));
  EXPECT_EQ(json["gpu"], "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(json["date"], "2025-01-31");
  EXPECT_EQ(json["facts"]["driver"], "580.1");
  EXPECT_EQ(json["facts"]["SM clock as found"], "1980 MHz");
  const auto& probe = json["probes"].at(0);
  EXPECT_EQ(probe["number"], 3);
  EXPECT_EQ(probe["expectation"], "an L2 round trip");
  EXPECT_EQ(probe["notes"].at(0), "took 0.1 s");
  EXPECT_EQ(probe["failure"], "");
  const auto& row = probe["rows"].at(0);
  EXPECT_EQ(row["case"], "st.release, 1 lane");
  EXPECT_EQ(row["unit"], "ns one-way");
  EXPECT_EQ(row["repeats"], 5);
  EXPECT_EQ(row["median"], 320);
  EXPECT_EQ(row["lower_quartile"], 310);
  EXPECT_EQ(row["upper_quartile"], 330);
  EXPECT_EQ(row["minimum"], 300);
  EXPECT_EQ(row["maximum"], 2000);
  EXPECT_EQ(row["expected_low"], 150);
  EXPECT_EQ(row["expected_high"], 1200);
  EXPECT_EQ(row["verdict"], "as expected");
  EXPECT_TRUE(probe["rows"].at(1)["expected_low"].is_null());
  EXPECT_EQ(probe["rows"].at(1)["verdict"], "finding");
}

TEST(Report, MarkdownSaysTheExpectationBeforeTheRows) {
  Report report = example();
  report.probes[0].failure = "a wait ran out";
  const std::string text = to_markdown(report);
  EXPECT_EQ(text.find("# GPU probes: NVIDIA H100 80GB HBM3, 2025-01-31\n"), 0u);
  EXPECT_NE(text.find("| driver | 580.1 |"), std::string::npos);
  const std::size_t expectation = text.find("Expected: an L2 round trip");
  const std::size_t row = text.find("| st.release, 1 lane |");
  ASSERT_NE(expectation, std::string::npos);
  ASSERT_NE(row, std::string::npos);
  EXPECT_LT(expectation, row);
  EXPECT_NE(text.find("\ntook 0.1 s\n"), std::string::npos);
  EXPECT_NE(text.find("**Failed:** a wait ran out"), std::string::npos);
}

TEST(Report, FilesAreNamedAfterGpuAndDate) {
  EXPECT_EQ(result_stem("NVIDIA H100 80GB HBM3", "2025-01-31"),
            "gpu-probe-nvidia-h100-80gb-hbm3-2025-01-31");
  EXPECT_EQ(result_stem(" Tesla T4/(x) ", "d"), "gpu-probe-tesla-t4-x-d");
}

}  // namespace
}  // namespace sluice::gpu_probe
