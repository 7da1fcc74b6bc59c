// The trace of a run written by hand.
#include "tools/view/trace.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/handwritten_run.hpp"

namespace sluice::tools {
namespace {

using nlohmann::json;

class WrittenTrace : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto first = made_.launch(5);
    made_.launch(5, {{first, testing::all(5, 5)}});
    made_.run.summary.program = "app \"quoted\"";
    made_.run.tasks.push_back({1, {{0, 0, 100, 1100, 5000}, {3, 1, 0, 1500, 9000}}, {}});
    made_.run.tasks.push_back(
        {2, {{0, 1, 9000, 9100, 9200}, {3, 0, 5100, 9300, 9400}}, {{1, 1, 1}}});
  }

  testing::HandwrittenRun made_;
};

TEST_F(WrittenTrace, HasASliceForEachTaskAndAFlowForEachDelay) {
  std::stringstream out;
  ASSERT_TRUE(write_trace(made_.run, out));
  const json trace = json::parse(out.str());
  json slices = json::array(), flows = json::array(), names = json::array();
  for (const json& event : trace["traceEvents"]) {
    const std::string kind = event["ph"];
    (kind == "X" ? slices : kind == "M" ? names : flows).push_back(event);
  }
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_EQ(slices[1], json::parse(R"({"ph":"X","pid":1,"tid":3,"ts":1.5,"dur":7.5,"cat":"task",
      "name":"kernel1","args":{"launch":1,"first_block":3,"last_block":4,"waited_us":1.5}})"));
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0], json::parse(R"({"ph":"s","pid":1,"tid":3,"ts":8.999,"id":1,
      "name":"waited for","cat":"edge"})"));
  EXPECT_EQ(flows[1], json::parse(R"({"ph":"f","bp":"e","pid":1,"tid":2,"ts":9.3,"id":1,
      "name":"waited for","cat":"edge"})"));
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[0]["args"]["name"], "app \"quoted\"");
  EXPECT_EQ(names[2]["args"]["name"], "worker 1");
}

TEST_F(WrittenTrace, OfARunWithoutTimesIsRefused) {
  made_.run.tasks.clear();
  std::stringstream out;
  const Status written = write_trace(made_.run, out);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().line(), ::testing::HasSubstr("sluice run --trace"));
}

TEST_F(WrittenTrace, OfADelayByATaskThatIsNotThereIsRefused) {
  made_.run.tasks[1].delays[0].master_task = 2;
  std::stringstream out;
  EXPECT_FALSE(write_trace(made_.run, out));
}

}  // namespace
}  // namespace sluice::tools
