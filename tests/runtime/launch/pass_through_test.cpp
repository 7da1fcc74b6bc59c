// What is not understood passes through in stream order, with its reason in the journal.
#include <fstream>
#include <sstream>

#include "base/assert.hpp"
#include "base/scratch_folder.hpp"
#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PingPong;

class PassThroughTest : public testing::RuntimeTest {
 protected:
  void start_with_journal() { start(Config{.journal_path = path()}); }

  std::string path() const { return folder_.file("journal"); }

  // finished_journal() ends the runtime's work and reads what it wrote.
  std::string finished_journal() {
    runtime->finish();
    std::ostringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
  }

  PingPong program{64};

 private:
  ScratchFolder folder_;
};

TEST_F(PassThroughTest, AnOpaqueLaunchKeepsItsPlaceBetweenWindows) {
  start_with_journal();
  program.allocate_in(*runtime);
  device.pause();
  program.launch(*runtime, kernels["step"], 0);
  program.launch(*runtime, kernels["step"], 1);
  EXPECT_EQ(launch_plain("opaque"), 0);
  program.launch(*runtime, kernels["step"], 2);
  runtime->flush();
  EXPECT_THAT(device.events(), ElementsAre("window 0", "window 0", "launch opaque", "window 0"));
  device.resume();
  EXPECT_THAT(
      finished_journal(),
      HasSubstr("pointer loaded from memory at PTX line 3\",\"widening\":\"loaded_pointer\""));
  // The launch after it waits for nothing: the opaque one stands between, and the stream orders.
  EXPECT_EQ(runtime->counters().resolved, 1U);
}

TEST_F(PassThroughTest, AKernelWithoutModelPassesWithTheModelsReason) {
  start_with_journal();
  EXPECT_EQ(launch_plain("unmodelled"), 0);
  EXPECT_THAT(device.events(), ElementsAre("launch unmodelled"));
  EXPECT_THAT(finished_journal(), HasSubstr("it uses an instruction that nobody knows"));
}

TEST_F(PassThroughTest, AFunctionNobodyFoundPasses) {
  start_with_journal();
  runtime->code_unloaded(code());
  program.allocate_in(*runtime);
  EXPECT_EQ(program.launch(*runtime, kernels["step"], 0), 0);
  EXPECT_THAT(device.events(), ElementsAre("launch step"));
  EXPECT_THAT(finished_journal(), HasSubstr("does not follow"));
}

TEST_F(PassThroughTest, APointerIntoUnknownMemoryPasses) {
  start_with_journal();
  EXPECT_EQ(program.launch(*runtime, kernels["step"], 0), 0);
  EXPECT_THAT(device.events(), ElementsAre("launch step"));
  EXPECT_THAT(finished_journal(),
              HasSubstr("argument in points to memory that Sluice does not know"));
}

TEST_F(PassThroughTest, APointerThatIsNeverUsedMayPointAnywhere) {
  start();
  void* null = nullptr;
  void* parameters[] = {&null};
  EXPECT_EQ(launch_plain("unused", parameters), 0);
  EXPECT_THAT(device.events(), ElementsAre("window 0"));
}

TEST_F(PassThroughTest, WithoutBlockCodeDependencesAreStillFound) {
  device.has_block_code = false;
  start_with_journal();
  program.allocate_in(*runtime);
  for (uint32_t t = 0; t < 3; ++t) {
    EXPECT_EQ(program.launch(*runtime, kernels["step"], t), 0);
  }
  EXPECT_THAT(device.events(), ElementsAre("launch step", "launch step", "launch step"));
  EXPECT_THAT(finished_journal(), HasSubstr("no megakernel for this device"));
  EXPECT_EQ(runtime->counters().resolved, 2U);
  EXPECT_EQ(runtime->counters().dros, 2U);
}

TEST_F(PassThroughTest, WhatTheDriverRefusesItRefusesToTheCaller) {
  start();
  const LaunchCall empty{.function = &kernels["step"], .grid = {0, 1, 1}};
  EXPECT_EQ(runtime->launch(empty), 1);
  const LaunchCall without_arguments{.function = &kernels["step"]};
  EXPECT_EQ(runtime->launch(without_arguments), 1);
}

TEST_F(PassThroughTest, ACallWithoutModelClosesTheWindowAndOrdersLikeAnOpaqueLaunch) {
  start_with_journal();
  program.allocate_in(*runtime);
  device.pause();
  program.launch(*runtime, kernels["step"], 0);
  program.launch(*runtime, kernels["step"], 1);
  runtime->pass_through("graph", "a CUDA graph");
  EXPECT_EQ(device.events().size(), 2U);
  program.launch(*runtime, kernels["step"], 2);
  device.resume();
  EXPECT_THAT(finished_journal(), HasSubstr("a CUDA graph"));
  EXPECT_EQ(runtime->counters().resolved, 1U);
}

TEST_F(PassThroughTest, AJournalThatCannotBeWrittenIsAnError) {
  const auto made =
      Runtime::create(Config{.journal_path = "/nowhere/journal"}, device, kernels.maker());
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().line(), HasSubstr("/nowhere/journal"));
}

TEST_F(PassThroughTest, AfterABugOfOursEverythingPassesAndNothingIsLost) {
  start();
  program.allocate_in(*runtime);
  kernels["opaque"].footprint = [](const analysis::LaunchShape&) -> analysis::Footprint {
    throw AssertionFailure{"a bug", "test", 1};
  };
  device.pause();
  program.launch(*runtime, kernels["step"], 0);
  program.launch(*runtime, kernels["step"], 1);
  EXPECT_EQ(launch_plain("opaque"), 0);
  EXPECT_EQ(program.launch(*runtime, kernels["step"], 2), 0);
  EXPECT_THAT(device.events(),
              ElementsAre("window 0", "launch step", "launch opaque", "launch step"));
  device.resume();
  device.wait_idle();
  PingPong expected(64);
  for (uint32_t t = 0; t < 3; ++t) {
    expected.step(t);
  }
  EXPECT_EQ(program, expected);
}

}  // namespace
}  // namespace sluice::runtime
