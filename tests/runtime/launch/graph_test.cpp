// A graph that comes again unchanged is repeated by what is kept of it: without look-ups, and with
// the same answers, the same journal and the same order as if each node had been launched.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "dro/recorded/replay.hpp"
#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using ::testing::ElementsAre;
using testing::PingPong;

// So many launches it takes until a graph is known, where nothing comes between.
constexpr uint32_t until_known = 4;
constexpr uint32_t nodes = 4;

class GraphTest : public testing::RuntimeTest {
 protected:
  // begin() makes a graph of steps of the program: an even number, so that it may come again.
  void begin(Config config = Config{}) {
    device.host_memory = true;
    start(std::move(config));
    program.allocate_in(*runtime);
    make_graph(nodes, 1);
  }
  void make_graph(uint32_t count, uint64_t version) {
    arguments_.clear();
    steps_.clear();
    for (uint32_t t = 0; t < count; ++t)
      arguments_.push_back(program.arguments(t));
    for (const testing::StepArguments& arguments : arguments_) {
      steps_.push_back({.function = &kernels["step"],
                        .grid = {program.grid().x, 1, 1},
                        .block = {testing::cells_per_block, 1, 1},
                        .parameters = &arguments,
                        .parameter_bytes = testing::step_argument_bytes});
    }
    device.graph = {steps_, version};
  }

  void launch_graph(uint32_t times = 1) {
    for (uint32_t i = 0; i < times; ++i) {
      ASSERT_EQ(runtime->take(GraphLaunch{this, {}}), 0);
      launches += static_cast<uint32_t>(steps_.size());
    }
  }
  void launch_step() {
    ASSERT_EQ(program.launch(*runtime, kernels["step"], launches), 0);
    ++launches;
  }
  uint64_t repeated() { return runtime->counters().repeated; }
  // What the program has computed, as one launch after the other does.
  void expect_the_answer() {
    synchronise();
    PingPong expected(cells);
    for (uint32_t t = 0; t < launches; ++t)
      expected.step(t);
    EXPECT_EQ(program, expected);
  }

  static constexpr uint32_t cells = 1003;
  PingPong program{cells};
  uint32_t launches = 0;

 private:
  std::vector<testing::StepArguments> arguments_;
  std::vector<SluiceGraphStep> steps_;
};

TEST_F(GraphTest, AnUnchangedGraphIsRepeatedWithoutLookUps) {
  begin();
  launch_graph(until_known);
  EXPECT_EQ(repeated(), 0U);
  const auto before = runtime->counters();
  launch_graph(100);
  const auto after = runtime->counters();
  EXPECT_EQ(after.repeated, 100U * nodes);
  EXPECT_EQ(after.launches, (until_known + 100U) * nodes);
  EXPECT_EQ(after.resolved, after.launches - 1);
  EXPECT_EQ(after.dros, before.dros);
  EXPECT_EQ(after.footprints, before.footprints);
  EXPECT_EQ(after.launch_cache.misses, before.launch_cache.misses);
  EXPECT_EQ(kernels["step"].footprints_asked, 1);
  expect_the_answer();
}

TEST_F(GraphTest, WindowsHoldRowsAmongLaunchesAndEvents) {
  begin();
  launch_graph(until_known);
  synchronise();  // a window that ends after pause() would take with it what is held
  device.takes_events = true;
  for (int round = 0; round < 3; ++round) {
    device.pause();
    for (int i = 0; i < 2; ++i) {
      launch_graph(until_known + 2);
      EXPECT_EQ(runtime->take(EventRecord{reinterpret_cast<void*>(7), {}}), 0);
      launch_graph(2);
      launch_step();
      launch_step();
    }
    device.resume();
    expect_the_answer();
  }
  EXPECT_GT(repeated(), 0U);
}

TEST_F(GraphTest, OneThatIsChangedIsFollowedAgain) {
  begin();
  launch_graph(until_known + 3);
  EXPECT_EQ(repeated(), 3U * nodes);
  make_graph(nodes - 2, 2);
  launch_graph(until_known);
  EXPECT_EQ(repeated(), 3U * nodes);
  launch_graph();
  EXPECT_EQ(repeated(), 3U * nodes + (nodes - 2));
  expect_the_answer();
}

TEST_F(GraphTest, WhatItTouchesMayBeAnotherBuffer) {
  begin();
  launch_graph(until_known + 1);
  synchronise();
  program.free_in(*runtime);
  program.allocate_in(*runtime);
  const uint64_t interned = runtime->counters().interned;
  launch_graph();
  EXPECT_EQ(repeated(), 1U * nodes);
  EXPECT_EQ(runtime->counters().interned, 2 * interned);
  launch_graph(until_known);
  EXPECT_EQ(repeated(), 2U * nodes);
  expect_the_answer();
}

TEST_F(GraphTest, WhoseCodeMayBeAnotherIsReadAgain) {
  begin();
  launch_graph(until_known + 1);
  const uint64_t before = repeated();
  runtime->function_changed(&kernels["step"]);
  launch_graph();
  EXPECT_EQ(repeated(), before);
  expect_the_answer();
}

TEST_F(GraphTest, ALaunchBetweenIsWaitedForAsByLaunches) {
  begin();
  for (uint32_t i = 0; i < 6; ++i) {
    launch_graph(until_known + 2);
    launch_step();
    launch_step();
  }
  EXPECT_GT(repeated(), 0U);
  EXPECT_EQ(runtime->counters().resolved, launches - 1);
  expect_the_answer();
}

TEST_F(GraphTest, ItsJournalIsThatOfItsLaunches) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("sluice_graph_" + std::to_string(getpid()));
  begin(Config{.journal_path = path});
  for (uint32_t i = 0; i < 3; ++i) {
    launch_graph(until_known + 20);
    launch_step();
    launch_step();
  }
  EXPECT_GT(repeated(), 40U);
  synchronise();
  runtime->finish();
  const auto result = dro::replay(path);
  ASSERT_TRUE(result) << result.error().line();
  EXPECT_EQ(result->difference, "");
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\"number\":" + std::to_string(launches)), std::string::npos);
  std::filesystem::remove(path);
}

TEST_F(GraphTest, WhatIsHeldOfOneGoesToADeviceThatTakesNoWindows) {
  begin();
  launch_graph(until_known);
  synchronise();
  device.pause();
  launch_graph();  // the device is given this one
  launch_graph(3);
  device.forget_events();
  device.enqueue_error = 1;
  runtime->flush();
  EXPECT_EQ(device.events(), std::vector<std::string>(3 * nodes, "launch step"));
  device.enqueue_error = 0;
  device.resume();
  expect_the_answer();
}

}  // namespace
}  // namespace sluice::runtime
