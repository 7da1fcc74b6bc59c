// Launches pass through while their kernels are analysed and their dependences are found.
#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "base/scratch_folder.hpp"
#include "dro/rule/tracker.hpp"
#include "relation_text.hpp"
#include "runtime/code/model_cache.hpp"
#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

// The clock stands: nothing is ever compared, and where nothing may be spent nobody waits.
int64_t standing_clock() {
  return 0;
}

class InBackground : public testing::RuntimeTest {
 protected:
  void start_impatient() { start_impatient(standing_clock, kernels.maker(), program); }
  void start_impatient(Policy::Clock clock, const ModelMaker& maker, testing::PingPong& data,
                       int64_t quick = Policy::Config{}.quick) {
    Policy::Config impatient{
        .to_start = 0, .part = 0, .quick = quick, .alone = UINT32_MAX, .alone_at_first = false};
    start({.policy = impatient, .clock = clock, .waits_for_analysis = false}, maker);
    data.allocate_in(*runtime);
  }
  // The kernel's footprint is found once may_answer has a value.
  void start_with_slow_analysis() {
    kernels["step"].footprint =
        [answer = may_answer.get_future().share()](const analysis::LaunchShape& shape) {
          answer.wait();
          return testing::step_footprint(shape);
        };
    start_impatient();
  }
  int64_t plain() {
    const std::vector<std::string> events = device.events();
    return std::count(events.begin(), events.end(), "launch step");
  }
  // What the program has computed, as one launch after the other does.
  void expect_the_answer() {
    synchronise();
    testing::PingPong expected(1000);
    for (uint32_t t = 0; t < launches; ++t)
      expected.step(t);
    EXPECT_EQ(program, expected);
  }
  // launch_until_tasks() launches until some launch has gone as a task.
  void launch_until_tasks() {
    for (int64_t before = -1; plain() != before;) {
      before = plain();
      ASSERT_EQ(program.launch(*runtime, kernels["step"], launches++), 0);
      std::this_thread::yield();
    }
  }

  std::promise<void> may_answer;
  testing::PingPong program{1000};
  uint32_t launches = 0;
};

TEST_F(InBackground, LaunchesPassThroughWhileTheirKernelIsAnalysed) {
  start_with_slow_analysis();
  while (launches < 5)
    ASSERT_EQ(program.launch(*runtime, kernels["step"], launches++), 0);
  EXPECT_EQ(plain(), 5);
  may_answer.set_value();
  launch_until_tasks();
  expect_the_answer();
  EXPECT_EQ(kernels["step"].footprints_asked, 1);
}

// What each block touches shows neither as boxes nor as strides, but only when it is listed.
TEST_F(InBackground, LaunchesPassThroughWhileTheirFootprintIsRead) {
  kernels["step"].footprint = [](const analysis::LaunchShape& shape) {
    analysis::Footprint footprint = testing::step_footprint(shape);
    Relation& reads = footprint.arguments[0].reads.relation;
    const Relation more = sluice::testing::relation_of(
        "{ B[x, y = 0, z = 0] -> A[o] : exists a, b : 0 <= x < 40 and 0 <= a <= b < 24 and "
        "o = 7a + 97b + x }");
    reads.pieces.insert(reads.pieces.end(), more.pieces.begin(), more.pieces.end());
    EXPECT_FALSE(dro::DependenceTracker(dro::Rule::exact).add_footprint_at_once(footprint));
    return footprint;
  };
  start_impatient();
  launch_until_tasks();
  EXPECT_GT(plain(), 0);
  expect_the_answer();
  EXPECT_EQ(kernels["step"].footprints_asked, 1);
}

TEST_F(InBackground, AProgramMayEndBeforeTheAnalysis) {
  start_with_slow_analysis();
  ASSERT_EQ(program.launch(*runtime, kernels["step"], 0), 0);
  runtime->finish();
  may_answer.set_value();
}

// Nothing is read then of what the search may still be writing.
TEST_F(InBackground, AProgramMayEndWhileDependencesAreFound) {
  for (int end = 0; end < 100; ++end) {
    start_impatient();
    for (uint32_t t = 0; t < 8; ++t)
      ASSERT_EQ(program.launch(*runtime, kernels["step"], t), 0);
    runtime->finish();
  }
}

TEST_F(InBackground, CodeMayBeUnloadedBeforeItIsAnalysed) {
  start_with_slow_analysis();
  ASSERT_EQ(program.launch(*runtime, kernels["step"], 0), 0);
  runtime->code_unloaded(code());
  may_answer.set_value();
  runtime->finish();
}

// Where each launch has another shape, answers for those behind the first few would come too late.
TEST_F(InBackground, FewOfManyShapesAreAnalysed) {
  start_with_slow_analysis();
  std::deque<testing::PingPong> programs;
  for (uint32_t i = 0; i < 50; ++i) {
    programs.emplace_back(1000 * (i + 1));
    programs.back().allocate_in(*runtime);
    ASSERT_EQ(programs.back().launch(*runtime, kernels["step"], 0), 0);
  }
  may_answer.set_value();
  for (int64_t before = -1; plain() != before; std::this_thread::yield()) {
    before = plain();
    ASSERT_EQ(programs.back().launch(*runtime, kernels["step"], 0), 0);
  }
  synchronise();
  EXPECT_LE(kernels["step"].footprints_asked, 5);
}

// While the device works a launch waits for far longer than the policy's patience. The analysis
// takes what the clock says, which goes on by a millisecond each time that it is read.
TEST_F(InBackground, ALaunchBehindAWorkingDeviceWaitsForItsAnalysis) {
  constexpr int64_t millisecond = 1'000'000;
  constexpr int64_t patience = 5 * millisecond;
  static std::atomic<int64_t> now;
  static std::atomic<int64_t> answers_at;
  now = 0;
  answers_at = std::numeric_limits<int64_t>::max();
  kernels["step"].footprint = [](const analysis::LaunchShape& shape) {
    while (now < answers_at)
      std::this_thread::yield();
    return testing::step_footprint(shape);
  };
  start({.policy =
             Policy::Config{
                 .to_start = patience, .part = 0, .alone = UINT32_MAX, .alone_at_first = false},
         .clock = [] { return now += millisecond; },
         .waits_for_analysis = false});
  program.allocate_in(*runtime);
  device.pause();
  ASSERT_EQ(device.enqueue({}, [] {}), 0);
  answers_at = now + 30 * patience;
  ASSERT_EQ(program.launch(*runtime, kernels["step"], 0), 0);
  EXPECT_EQ(plain(), 0);
  now = answers_at.load();
  device.resume();
  synchronise();
}

// The device's thread, which has run a window, waits for the program's to say so: the device looks
// busy, and never ends what it does.
TEST_F(InBackground, NobodyWaitsForADeviceThatWaitsForHim) {
  testing::PingPong late{10};
  kernels["step"].footprint = [answer = may_answer.get_future().share(),
                               grid = late.grid()](const analysis::LaunchShape& shape) {
    if (shape.grid == grid) answer.wait();
    return testing::step_footprint(shape);
  };
  // No analysis counts as quick: such a one the launch would do itself.
  start({.policy = Policy::Config{.to_start = int64_t{1} << 60U,
                                  .quick = -1,
                                  .alone = UINT32_MAX,
                                  .alone_at_first = false},
         .waits_for_analysis = false});
  program.allocate_in(*runtime);
  late.allocate_in(*runtime);
  launch_until_tasks();
  ASSERT_EQ(late.launch(*runtime, kernels["step"], 0), 0);
  may_answer.set_value();
  synchronise();
}

// Each start would else spend on it what it brings nothing for.
TEST_F(InBackground, AnAnalysisThatDidNotEndIsTriedLaterInTheNextStart) {
  static std::atomic<int64_t> now;
  now = 0;
  const ScratchFolder scratch;
  const ModelMaker maker = cached_model_maker(
      kernels.maker(), std::make_shared<const CacheFolder>(scratch.file("kept")), "build");
  // No analysis counts as quick: such a one the launch would do itself.
  const auto begin = [&](testing::PingPong& data) {
    start_impatient([] { return now.load(); }, maker, data, -1);
  };
  testing::PingPong other(2000);
  std::atomic<int> begun = 0;
  kernels["step"].footprint =
      [&begun, slow = other.grid(),
       answer = may_answer.get_future().share()](const analysis::LaunchShape& shape) {
        if (shape.grid != slow) return testing::step_footprint(shape);
        ++begun;
        answer.wait();
        return testing::step_footprint(shape);
      };
  begin(program);
  launch_until_tasks();
  other.allocate_in(*runtime);
  for (; begun == 0; std::this_thread::yield())
    ASSERT_EQ(other.launch(*runtime, kernels["step"], 0), 0);
  synchronise();
  runtime->finish();
  may_answer.set_value();
  device.wait_idle();
  runtime.reset();

  testing::PingPong third(3000);  // the answer for `other` has come in the end
  begin(third);
  program.allocate_in(*runtime);
  // This shape's answer is kept, and says nothing of others.
  ASSERT_EQ(program.launch(*runtime, kernels["step"], launches++), 0);
  synchronise();
  kernels["step"].footprint = [&begun](const analysis::LaunchShape& shape) {
    ++begun;
    return testing::step_footprint(shape);
  };
  for (uint32_t t = 0; t < 20; ++t)
    ASSERT_EQ(third.launch(*runtime, kernels["step"], t), 0);
  device.wait_idle();
  EXPECT_EQ(begun, 1);
  // Another kernel may be launched once, and is not analysed before it comes again.
  std::atomic<int> prepared = 0;
  kernels["opaque"].footprint = [&prepared](const analysis::LaunchShape& shape) {
    ++prepared;
    return testing::step_footprint(shape);
  };
  ASSERT_EQ(third.launch(*runtime, kernels["opaque"], 20), 0);
  synchronise();
  EXPECT_EQ(prepared, 0);
  for (; prepared == 0; std::this_thread::yield())
    ASSERT_EQ(third.launch(*runtime, kernels["opaque"], 20), 0);
  now = int64_t{1} << 50U;
  for (; begun == 1; std::this_thread::yield())
    ASSERT_EQ(third.launch(*runtime, kernels["step"], 20), 0);
  runtime->finish();
  device.wait_idle();  // which works with `third`
  runtime.reset();     // an analysis that has just begun counts in `begun`
}

// What an earlier start has left needs no other thread, so it is there at the first launch.
TEST_F(InBackground, WhatAnEarlierStartHasLeftNoLaunchPassesThroughFor) {
  const ScratchFolder scratch;
  const ModelMaker maker = cached_model_maker(
      kernels.maker(), std::make_shared<const CacheFolder>(scratch.file("kept")), "build");
  const auto begin = [&] {
    constexpr int64_t ever = int64_t{1} << 60U;
    start({.policy =
               Policy::Config{
                   .to_start = ever, .quick = ever, .alone = UINT32_MAX, .alone_at_first = false},
           .clock = standing_clock,
           .waits_for_analysis = false},
          maker);
    program.allocate_in(*runtime);
  };
  begin();
  launch_until_tasks();
  PtxCode code({kernels.ptx()});
  const std::string name = fmt::format("new {} 1 1 {}", testing::cells_per_block,
                                       Policy::Mark::magnitude(program.grid().count()));
  const auto figures = [&] { return maker.kept(code, "step")->figures(name); };
  while (figures().size() < 3) {  // behind what was in vain, the steps of two new launches
    ASSERT_EQ(program.launch(*runtime, kernels["step"], launches++), 0);
    std::this_thread::yield();
  }
  synchronise();
  runtime->finish();
  runtime.reset();

  const int64_t before = plain();
  kernels["step"].footprint = [](const analysis::LaunchShape& shape) {
    ADD_FAILURE() << "it was kept";
    return testing::step_footprint(shape);
  };
  begin();
  for (uint32_t i = 0; i < 10; ++i)
    ASSERT_EQ(program.launch(*runtime, kernels["step"], launches++), 0);
  EXPECT_EQ(plain(), before);
  synchronise();
  testing::PingPong expected(1000);
  for (uint32_t t = 0; t < launches; ++t)
    expected.step(t);
  EXPECT_EQ(program, expected);
}

// Whether a search ends before it is given up or after, the tracker hears the same.
TEST_F(InBackground, WhatIsFoundDoesNotDependOnWhoWaitsForIt) {
  start_impatient();
  launch_until_tasks();
  const uint32_t before = launches;
  while (launches < before + 50)
    ASSERT_EQ(program.launch(*runtime, kernels["step"], launches++), 0);
  synchronise();
  testing::PingPong expected(1000);
  for (uint32_t t = 0; t < launches; ++t)
    expected.step(t);
  EXPECT_EQ(program, expected);
  const auto counters = runtime->counters();
  EXPECT_LE(counters.dros, 2U);
  EXPECT_EQ(counters.footprints, 1U);
}

}  // namespace
}  // namespace sluice::runtime
