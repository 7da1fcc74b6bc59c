// A whole runtime goes by its policy: what it gives to the device as it is, follows and tells.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "runtime/policy/policy_phase.hpp"
#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using testing::now;
using testing::quick;
using testing::read_clock;

// For a whole runtime the blocks themselves turn the clock: a plain launch of the fake device gives
// them no scratch memory.
std::atomic<int64_t> plain_block{0};
void run_slowly(const SluiceBlockLaunch*, uint32_t, uint32_t, void* scratch) {
  now += scratch == nullptr ? plain_block.load() : 100;
}

class GovernedRuntime : public testing::RuntimeTest {
 protected:
  void start_governed(int64_t plain_time, const std::string& journal = {}) {
    now = 0;
    plain_block = plain_time;
    kernels["unused"].run = run_slowly;
    start({.journal_path = journal, .workers = 1, .policy = quick, .clock = read_clock});
  }

  // plain_of() makes launches, waits for each, and says how many went to the device as they were.
  int64_t plain_of(int count) {
    const auto before = static_cast<std::ptrdiff_t>(device.events().size());
    uint64_t pointer = 0;
    void* parameters[] = {&pointer};
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(runtime->launch({.function = &kernels["unused"],
                                 .grid = {1, 1, 1},
                                 .block = {32, 1, 1},
                                 .parameters = parameters}),
                0);
      synchronise();
    }
    const std::vector<std::string> events = device.events();
    return std::count(events.begin() + before, events.end(), "launch unused");
  }
};

TEST_F(GovernedRuntime, GivesLaunchesToTheDeviceWherePlainOnesAreFaster) {
  start_governed(50);
  EXPECT_EQ(plain_of(21), 0);  // the first says how long a block takes
  EXPECT_EQ(plain_of(40), 40);
  EXPECT_EQ(runtime->counters().launches, 21U) << "nor were the measured ones followed";
  EXPECT_EQ(plain_of(40), 34);  // six as tasks, to compare again
}

TEST_F(GovernedRuntime, OnlyMeasuresPlainLaunchesWhereTasksAreFaster) {
  start_governed(150);
  EXPECT_EQ(plain_of(70), 6);
  EXPECT_EQ(runtime->counters().launches, 64U) << "all others";
}

TEST_F(GovernedRuntime, CountsOnlyLaunchesThatItCouldMeasure) {
  start_governed(50);
  for (int i = 0; i < 40; ++i) {
    plain_of(1);
    EXPECT_EQ(launch_plain("opaque"), 0);
    synchronise();
  }
  EXPECT_EQ(runtime->counters().launches, 21U);
}

// launch_new_steps() makes launches of which each second has another size than all before it. By
// the clock of these tests it takes the analysis 5 ms to say what one of them touches.
constexpr uint32_t new_steps = 30;
int64_t launch_new_steps(testing::FakeKernels& kernels, testing::FakeDevice& device,
                         Runtime& runtime) {
  kernels["step"].footprint = [](const analysis::LaunchShape& shape) {
    now += 5'000'000;
    return testing::step_footprint(shape);
  };
  std::vector<testing::PingPong> programs;
  for (uint32_t i = 1; i <= new_steps; ++i)
    programs.emplace_back(i * testing::cells_per_block);
  for (testing::PingPong& program : programs) {
    program.allocate_in(runtime);
    for (uint32_t t = 0; t < 2; ++t)
      EXPECT_EQ(program.launch(runtime, kernels["step"], t), 0);
  }
  runtime.flush();
  device.wait_idle();
  const std::vector<std::string> events = device.events();
  return std::count(events.begin(), events.end(), "launch step");
}

TEST_F(GovernedRuntime, FollowsNoLaunchesThatAreNewEachTime) {
  start({.policy = Policy::Config{}, .clock = read_clock});
  EXPECT_GT(launch_new_steps(kernels, device, *runtime), new_steps);
}

TEST_F(GovernedRuntime, FollowsThemForLongerWhereNothingGoverns) {
  start();
  EXPECT_EQ(launch_new_steps(kernels, device, *runtime), 0);
}

TEST_F(GovernedRuntime, GivesLaunchesThatAreWaitedForToTheDevice) {
  now = 0;
  start({.policy = Policy::Config{.alone = 8}, .clock = read_clock});
  EXPECT_EQ(plain_of(20), 20);
  EXPECT_EQ(kernels["unused"].footprints_asked, 0) << "nor is any analysed";
}

TEST_F(GovernedRuntime, FollowsLaunchesFromTheFirstThatTheProgramDoesNotWaitFor) {
  now = 0;
  start({.policy = Policy::Config{.alone = 8}, .clock = read_clock});
  testing::PingPong program(testing::cells_per_block);
  program.allocate_in(*runtime);
  for (uint32_t t = 0; t < 10; ++t)
    EXPECT_EQ(program.launch(*runtime, kernels["step"], t), 0);
  runtime->flush();
  device.wait_idle();
  EXPECT_EQ(runtime->counters().launches, 9U);
}

TEST_F(GovernedRuntime, SaysInTheJournalWhy) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("journal");
  start_governed(50, path);
  plain_of(30);
  runtime->finish();
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_THAT(text.str(), ::testing::HasSubstr("plain launches were 2.00 x as fast as tasks"));
  EXPECT_THAT(text.str(), ::testing::HasSubstr("plain launches were measured to be faster"));
}

}  // namespace
}  // namespace sluice::runtime
