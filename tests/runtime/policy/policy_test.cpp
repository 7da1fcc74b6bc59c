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

// A measurement takes two launches of 100 ns.
constexpr Policy::Config quick{.first = 2000,
                               .first_part = 0,
                               .sample = 200,
                               .samples = 3,
                               .again = 10,
                               .alone = UINT32_MAX,
                               .alone_at_first = false};

std::atomic<int64_t> now{0};
int64_t read_clock() {
  return now;
}

// Phase drives a policy with launches that take so long, as tasks and plain.
struct Phase {
  explicit Phase(const Policy::Config& config = quick) : policy(config, read_clock) {}
  Way launch(Policy::Mark& kernel) {
    const bool is_aside = policy.is_aside(kernel, blocks);
    const Way way = is_aside ? Way::aside : policy.way(kernel, blocks);
    Policy::Sample sample;
    if (way == Way::tasks) policy.count(sample, kernel, 10, cost, 0);
    const auto plain = way == Way::plain ? policy.count_plain(kernel, 10, cost, 0) : std::nullopt;
    now += way == Way::tasks ? task_time : plain_time;
    if (way == Way::tasks) hear(policy.ended(way, sample));
    if (plain) hear(policy.ended(way, *plain));
    return way;
  }
  void hear(const std::optional<Policy::Verdict>& verdict) {
    if (verdict) verdicts.push_back(*verdict);
  }
  std::string launches(int count, Policy::Mark& kernel) {
    std::string ways;
    for (int i = 0; i < count; ++i)
      ways += "tpa"[static_cast<int>(launch(kernel))];
    return ways;
  }

  Policy policy;
  uint64_t blocks = 10;
  const schedule::BlockCost* cost = nullptr;
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

TEST(Policy, ComparesAfterAPartOfTheTimeWhereThatIsLonger) {
  Policy::Config config = quick;
  config.first_part = 0.5;
  now = 0;
  Phase phase(config);
  Policy::Mark kernel;
  now += 10'000;  // the program has done other things; x = (10,000 + x) / 2
  EXPECT_EQ(phase.launches(100, kernel), std::string(100, 't'));
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
  EXPECT_THAT(phase.policy.why_aside(), ::testing::HasSubstr("2.00 x as fast as tasks"));
}

TEST(Policy, ARowGoesAsTasksWhereEachOfItsLaunchesWould) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  std::string ways = phase.launches(2, kernel);
  while (ways.size() < 60) {
    const Policy::Row row{kernel.size(phase.blocks, {}).phase, 2, 2 * phase.blocks};
    if (!row.may_go(phase.policy)) {
      ways += phase.launches(2, kernel);
      continue;
    }
    Policy::Sample sample;
    row.count(phase.policy, sample, 0);
    now += 2 * phase.task_time;
    phase.hear(phase.policy.ended(Way::tasks, sample));
    ways += "tt";
  }
  EXPECT_EQ(ways, std::string(20, 't') + std::string(6, 'p') + std::string(34, 'a'));
}

// Three samples that have run side by side end at once.
TEST(Policy, TakesTogetherWhatHasRunSideBySide) {
  Phase phase;
  Policy::Mark kernel;
  ASSERT_EQ(phase.launches(20, kernel), std::string(20, 't'));
  std::vector<Policy::Sample> samples;
  const int lines[3] = {};
  for (int i = 0; i < 6; ++i) {
    ASSERT_FALSE(phase.policy.is_aside(kernel, phase.blocks));
    ASSERT_EQ(phase.policy.way(kernel, phase.blocks), Way::plain);
    if (auto sample = phase.policy.count_plain(kernel, phase.blocks, nullptr, 0)) {
      sample->line = &lines[samples.size()];
      samples.push_back(*sample);
    }
  }
  ASSERT_EQ(samples.size(), 3U);
  now += 6 * phase.task_time;
  for (const Policy::Sample& sample : samples)
    phase.hear(phase.policy.ended(Way::plain, sample));
  EXPECT_TRUE(phase.verdicts.empty());
  EXPECT_EQ(phase.launch(kernel), Way::tasks);
}

TEST(Policy, MeasuresAsManyLaunchesWhateverABlockWasMeasuredToCost) {
  for (int nanoseconds = 1; nanoseconds < 300; ++nanoseconds) {
    schedule::BlockCost cost;
    cost.note(std::chrono::nanoseconds(nanoseconds), 1);
    Phase phase;
    Policy::Mark kernel;
    phase.cost = &cost;
    phase.plain_time = 50;
    ASSERT_EQ(phase.launches(40, kernel),
              std::string(20, 't') + std::string(6, 'p') + std::string(14, 'a'))
        << nanoseconds;
  }
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
  // Ten times as long as six plain launches took, and twice that; and six tasks to compare with.
  EXPECT_EQ(second - first, 6U + 59U + 6U);
  EXPECT_EQ(third - second, 6U + 117U + 6U);
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
  Phase phase;
  Policy::Mark kernel;
  EXPECT_EQ(phase.launches(27, kernel), std::string(20, 't') + std::string(6, 'p') + "t");
  phase.task_time = 149;
  EXPECT_EQ(phase.launches(30, kernel), std::string(30, 't'));
  phase.task_time = 151;
  const std::string ways = phase.launches(40, kernel);
  EXPECT_EQ(ways.substr(0, 2), "tt");
  EXPECT_NE(ways.find("pppp"), std::string::npos) << ways;
  EXPECT_EQ(ways.back(), 'a') << ways;
  ASSERT_EQ(phase.verdicts.size(), 1U);
  EXPECT_TRUE(phase.verdicts[0].aside);
}

TEST(Policy, AKernelThatComesLateBeginsAnotherPhaseAndTheFirstIsKnownWhenItComesAgain) {
  Phase phase;
  Policy::Mark kernel;
  Policy::Mark other;
  phase.plain_time = 50;
  EXPECT_EQ(phase.launches(30, kernel).back(), 'a');
  for (int i = 0; i < 40; ++i)
    phase.policy.is_aside(kernel, phase.blocks);  // so many that the phase is formed
  EXPECT_EQ(phase.launches(20, other), std::string(20, 't'));
  EXPECT_EQ(phase.launch(kernel), Way::aside);
}

TEST(Policy, AnotherBlockOrAMuchLargerGridIsAnotherPhase) {
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 50;
  phase.blocks = 8;
  EXPECT_EQ(phase.launches(30, kernel).back(), 'a');
  for (int i = 0; i < 40; ++i)
    phase.policy.is_aside(kernel, phase.blocks);  // so many that the phase is formed
  phase.blocks = 31;
  EXPECT_EQ(phase.launches(1, kernel), "a");
  phase.blocks = 8 * 31;
  EXPECT_EQ(phase.launches(10, kernel), std::string(10, 't'));
  phase.blocks = 8;
  EXPECT_EQ(phase.launch(kernel), Way::aside);
  EXPECT_FALSE(phase.policy.is_aside(kernel, 8, {64, 1, 1}));
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
  Phase phase;
  Policy::Mark kernel;
  EXPECT_EQ(phase.policy.way(kernel, phase.blocks), Way::tasks);
  Policy::Sample before;
  phase.policy.count(before, kernel, 10, nullptr, 0);
  phase.launches(26, kernel);                         // compared
  EXPECT_EQ(phase.launches(60, kernel).back(), 't');  // and begun to compare again
  for (int i = 0; i < 40; ++i) {
    now += 1000;
    phase.policy.ended(Way::tasks, before);
    EXPECT_EQ(phase.policy.is_aside(kernel, phase.blocks), false);
    EXPECT_EQ(phase.policy.way(kernel, phase.blocks), Way::tasks);
  }
}

TEST(Policy, IsPatientForAsMuchAsItMayLose) {
  now = 0;
  Policy policy(Policy::Config{.to_start = 1000, .part = 0.01}, read_clock);
  EXPECT_EQ(policy.patience(), 1000);
  policy.wait(600);
  EXPECT_EQ(policy.patience(), 400);
  policy.wait(600);
  EXPECT_EQ(policy.patience(), 0);
  now = 30'000;
  EXPECT_EQ(policy.patience(), 100);
}

TEST(Policy, IsMorePatientByWhatTasksSave) {
  now = 0;
  Phase phase;
  Policy::Mark kernel;
  phase.plain_time = 150;
  phase.launches(26, kernel);
  const int64_t before = phase.policy.patience();
  phase.launches(10, kernel);
  EXPECT_EQ(phase.policy.patience() - before, 10 * 50 + 20);  // and 2 % of 1000 ns
}

// With what users get: launches of 0.1 ms that take longer as tasks.
TEST(Policy, LosesNoMoreThanItMayWhereTasksNeverPay) {
  for (const int64_t task_time : {110'000, 150'000, 200'000, 400'000}) {
    now = 0;
    Phase phase(Policy::Config{});
    Policy::Mark kernel;
    phase.task_time = task_time;
    phase.plain_time = 100'000;
    int64_t lost = 0;
    int64_t first_aside = 0;
    while (now < 20'000'000'000) {
      const Way way = phase.launch(kernel);
      if (way == Way::tasks) lost += task_time - phase.plain_time;
      if (way == Way::aside && first_aside == 0) first_aside = now;
      ASSERT_LE(lost, 10'000'000 + now / 50) << task_time << " after " << now;
    }
    EXPECT_LE(first_aside, 20'000'000) << "5 ms of tasks, and what both were measured by";
  }
}

TEST(Policy, KnowsAfterAPartOfTheTimeSoFarWhereItIsLate) {
  now = 0;
  Phase phase(Policy::Config{});
  Policy::Mark kernel;
  phase.task_time = 200'000;
  phase.plain_time = 100'000;
  now = 1'000'000'000;
  int64_t as_tasks = 0;
  for (Way way = Way::tasks; way != Way::aside; as_tasks += way == Way::tasks ? 200'000 : 0)
    way = phase.launch(kernel);
  EXPECT_GE(as_tasks, 30'000'000);
  EXPECT_LE(as_tasks, 32'000'000);
}

TEST(Policy, TakesAProgramThatWaitsForEachLaunchToWaitForTheNext) {
  Policy policy(Policy::Config{.alone = 3}, read_clock);
  const auto launch = [&policy](bool is_waited_for) {
    const bool alone = policy.habit().is_alone();
    policy.habit().launched();
    if (is_waited_for) policy.habit().flushed();
    return alone;
  };
  EXPECT_TRUE(launch(true)) << "nothing says otherwise yet";
  EXPECT_TRUE(launch(false));
  EXPECT_FALSE(launch(true)) << "the one before was not waited for";
  EXPECT_FALSE(launch(true));
  EXPECT_FALSE(launch(true));
  EXPECT_FALSE(launch(true));
  EXPECT_TRUE(launch(true));
  EXPECT_TRUE(launch(false));
  EXPECT_FALSE(launch(false));
  EXPECT_FALSE(launch(true));
}

TEST(Policy, TakesNoProgramToWaitForEachLaunchWhereNothingIsCompared) {
  Policy policy(std::nullopt, read_clock);
  EXPECT_FALSE(policy.habit().is_alone());
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
  EXPECT_EQ(plain_of(21), 0);  // the first says how long a block takes
  EXPECT_EQ(plain_of(40), 40);
  EXPECT_EQ(runtime->counters().launches, 27U);  // followed until then
  EXPECT_EQ(plain_of(40), 34);                   // six as tasks, to compare again
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
  EXPECT_EQ(runtime->counters().launches, 27U);
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
