// The policy compares tasks with plain launches and steps aside where they are slower; by a clock
// that the tests turn.
#include "runtime/policy/policy.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using Way = Policy::Way;

constexpr Policy::Config quick{
    .first_launches = 20, .sample_launches = 2, .samples = 3, .again_launches = 50};
constexpr Policy::Config watchful{.first_launches = 20,
                                  .sample_launches = 2,
                                  .samples = 3,
                                  .again_launches = 1000,
                                  .slower_after = 30};

std::atomic<int64_t> now{0};
int64_t read_clock() {
  return now;
}

// Phase drives a policy with launches that take so long, as tasks and plain.
struct Phase {
  explicit Phase(const Policy::Config& config = quick) : policy(config, read_clock) {}
  Way launch(Policy::Mark& kernel) {
    if (policy.is_aside(kernel, blocks)) return Way::aside;
    const Way way = policy.way(kernel, blocks);
    if (way == Way::aside) return way;
    Policy::Sample sample;
    policy.count(sample, kernel, 10, nullptr, 0);
    now += way == Way::plain ? plain_time : task_time;
    if (const auto verdict = policy.ended(way, sample)) verdicts.push_back(*verdict);
    return way;
  }
  std::string launches(int count, Policy::Mark& kernel) {
    std::string ways;
    for (int i = 0; i < count; ++i)
      ways += "tpa"[static_cast<int>(launch(kernel))];
    return ways;
  }

  Policy policy;
  uint64_t blocks = 10;
  int64_t task_time = 100;
  int64_t plain_time = 100;
  std::vector<Policy::Verdict> verdicts;
};

TEST(Policy, ComparesNothingInAShortPhase) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 1;
  EXPECT_EQ(phase.launches(20, kernel), std::string(20, 't'));
  EXPECT_EQ(phase.launch(kernel), Way::plain);
}

TEST(Policy, StepsAsideWherePlainLaunchesAreFaster) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  EXPECT_EQ(phase.launches(60, kernel),
            std::string(20, 't') + std::string(6, 'p') + std::string(34, 'a'));
  ASSERT_EQ(phase.verdicts.size(), 1U);
  EXPECT_TRUE(phase.verdicts[0].aside);
  EXPECT_DOUBLE_EQ(phase.verdicts[0].plain_speed, 2.0);
}

TEST(Policy, StaysWhereTasksAreNotSlowerAndComparesEverMoreRarely) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 97;  // faster by less than it takes to be worth it
  const std::string ways = phase.launches(400, kernel);
  EXPECT_EQ(ways.find('a'), std::string::npos);
  const std::string compared(6, 'p');
  const size_t first = ways.find(compared);
  const size_t second = ways.find(compared, first + 6);
  const size_t third = ways.find(compared, second + 6);
  EXPECT_EQ(first, 20U);
  EXPECT_EQ(second - first, 6U + 50U + 6U);
  EXPECT_EQ(third - second, 6U + 100U + 6U);
  EXPECT_TRUE(phase.verdicts.empty());
}

TEST(Policy, ComesBackWhenTasksAreNoSlowerAnyMore) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  phase.launches(40, kernel);
  phase.plain_time = 100;
  const std::string ways = phase.launches(100, kernel);
  EXPECT_EQ(ways.back(), 't');
  ASSERT_EQ(phase.verdicts.size(), 2U);
  EXPECT_FALSE(phase.verdicts[1].aside);
}

TEST(Policy, ComparesAgainWhereTasksHaveBecomeMuchSlower) {
  Phase phase(watchful);
  Policy::Mark kernel;
  EXPECT_EQ(phase.launches(27, kernel), std::string(20, 't') + std::string(6, 'p') + "t");
  phase.task_time = 149;
  phase.plain_time = 100;
  EXPECT_EQ(phase.launches(40, kernel), std::string(40, 't'));
  Phase slower = phase;
  slower.task_time = 151;
  const std::string ways = slower.launches(40, kernel);
  EXPECT_EQ(ways.substr(0, 2), "tt");
  EXPECT_NE(ways.find("pppppp"), std::string::npos) << ways;
  EXPECT_EQ(ways.back(), 'a') << ways;
  ASSERT_EQ(slower.verdicts.size(), 1U);
  EXPECT_TRUE(slower.verdicts[0].aside);
}

TEST(Policy, DoesNotCompareAgainAtOnceWhereTasksBecomeSlower) {
  Phase phase(watchful);
  Policy::Mark kernel;
  phase.launches(27, kernel);
  phase.task_time = 1000;
  EXPECT_EQ(phase.launches(29, kernel), std::string(29, 't'));
  EXPECT_NE(phase.launches(30, kernel).find('p'), std::string::npos);
}

TEST(Policy, AKernelThatComesLateBeginsAnotherPhase) {
  Phase phase;
  Policy::Mark kernel;
  Policy::Mark other;
  phase.plain_time = 50;
  phase.launches(100, kernel);
  EXPECT_EQ(phase.launches(20, other), std::string(20, 't'));
}

TEST(Policy, AMuchLargerLaunchBeginsAnotherPhase) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  EXPECT_EQ(phase.launches(70, kernel).back(), 'a');
  phase.blocks = 80;
  EXPECT_EQ(phase.launches(1, kernel), "a");
  phase.blocks = 640;
  EXPECT_EQ(phase.launches(1, kernel), "a");
  phase.blocks = 640 * 8 + 1;
  EXPECT_EQ(phase.launches(20, kernel), std::string(20, 't'));
  phase.blocks = 1;
  EXPECT_EQ(phase.launches(1, kernel), "p");
}

TEST(Policy, LargeLaunchesThatComeEarlyAreOfOnePhase) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  for (int i = 0; i < 30; ++i) {
    phase.blocks = i % 2 == 0 ? 1 : 1000;
    phase.launch(kernel);
  }
  EXPECT_EQ(phase.launches(1, kernel), "a");
}

TEST(Policy, KernelsThatComeEarlyAreOfOnePhase) {
  Phase phase;
  Policy::Mark kernels[3];
  phase.plain_time = 50;
  std::string ways;
  for (int i = 0; i < 40; ++i)
    ways += phase.launches(1, kernels[i % 3]);
  EXPECT_EQ(ways, std::string(20, 't') + std::string(6, 'p') + std::string(14, 'a'));
}

TEST(Policy, GoesByTheMiddleOfItsSamples) {
  Phase phase;
  Policy::Mark kernel;
  phase.launches(20, kernel);
  for (const int64_t time : {1, 1, 100, 100, 100, 100}) {
    phase.plain_time = time;
    phase.launch(kernel);
  }
  EXPECT_EQ(phase.launch(kernel), Way::tasks);
}

TEST(Policy, TakesNoSampleOfAnEarlierRound) {
  Policy policy(quick, read_clock);
  Policy::Mark kernel;
  Policy::Sample before;
  policy.count(before, kernel, 10, nullptr, 0);
  policy.count(before, kernel, 10, nullptr, 0);
  policy.way(kernel, 1);
  for (int i = 0; i < 40; ++i) {
    now += 1000;
    policy.ended(Way::tasks, before);
    EXPECT_FALSE(policy.is_aside(kernel, 1));
    EXPECT_EQ(policy.way(kernel, 1), Way::tasks);
  }
}

TEST(Policy, ALaunchThatWasNotUnderstoodCountsOnlyInAPhaseThatIsLeftAside) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  EXPECT_EQ(phase.launches(20, kernel), std::string(20, 't'));
  for (int i = 0; i < 100; ++i)
    EXPECT_FALSE(phase.policy.is_aside(kernel, 10));
  EXPECT_EQ(phase.launches(7, kernel), std::string(6, 'p') + "a");
  for (int i = 0; i < 49; ++i)
    EXPECT_TRUE(phase.policy.is_aside(kernel, 10));
  EXPECT_FALSE(phase.policy.is_aside(kernel, 10));
}

TEST(Policy, WithoutAConfigLaunchesAlwaysGoAsTasks) {
  Policy policy(std::nullopt, read_clock);
  Policy::Mark kernel;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_FALSE(policy.is_aside(kernel, 1));
    ASSERT_EQ(policy.way(kernel, 1), Way::tasks);
  }
}

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
  EXPECT_EQ(plain_of(20), 0);
  EXPECT_EQ(plain_of(40), 40);
  EXPECT_EQ(runtime->counters().launches, 26U);  // followed until then
  EXPECT_EQ(plain_of(40), 34);                   // six as tasks, to compare again after 50
}

TEST_F(GovernedRuntime, OnlyMeasuresPlainLaunchesWhereTasksAreFaster) {
  start_governed(150);
  EXPECT_EQ(plain_of(70), 6);
  EXPECT_EQ(runtime->counters().launches, 70U);  // also the measured ones
}

TEST_F(GovernedRuntime, CountsOnlyLaunchesThatItCouldMeasure) {
  start_governed(50);
  for (int i = 0; i < 40; ++i) {
    plain_of(1);
    EXPECT_EQ(launch_plain("opaque"), 0);
    synchronise();
  }
  EXPECT_EQ(runtime->counters().launches, 26U);
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
  EXPECT_TRUE(kernels["step"].has_not_paid);
}

TEST_F(GovernedRuntime, FollowsNoneOfThemAtTheNextStart) {
  kernels["step"].has_not_paid = true;
  start({.policy = Policy::Config{}, .clock = read_clock});
  EXPECT_EQ(launch_new_steps(kernels, device, *runtime), 2 * new_steps);
}

TEST_F(GovernedRuntime, FollowsThemForLongerWhereNothingGoverns) {
  start();
  EXPECT_EQ(launch_new_steps(kernels, device, *runtime), 0);
  EXPECT_FALSE(kernels["step"].has_not_paid);
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
