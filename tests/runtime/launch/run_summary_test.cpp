// What is said of a run at its end.
#include "runtime/check/run_summary.hpp"

#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using ::testing::HasSubstr;
using testing::PingPong;
using ::testing::StartsWith;

class RunSummaryTest : public testing::RuntimeTest {};

TEST_F(RunSummaryTest, CountsTasksAndWhatPassedByItsMainReason) {
  start(Config{.summarise = true});
  PingPong program{64};
  program.allocate_in(*runtime);
  for (uint32_t t = 0; t < 3; ++t)
    program.launch(*runtime, kernels["step"], t);
  launch_plain("unmodelled");
  launch_plain("opaque");
  launch_plain("unmodelled");
  runtime->pass_through("cooperative", "it is cooperative");
  runtime->finish();
  EXPECT_THAT(runtime->outcome().summary,
              StartsWith("7 launches: 3 as tasks, 4 passed through (2 of them: "));
  EXPECT_THAT(runtime->outcome().summary, HasSubstr("it uses an instruction that nobody knows"));
}

TEST_F(RunSummaryTest, NothingIsSaidUnlessItIsAskedFor) {
  start();
  launch_plain("unmodelled");
  runtime->finish();
  EXPECT_EQ(runtime->outcome().summary, "");
}

int64_t clock_now = 0;

TEST(RunSummaryLine, SumsTheTimesOfWindowsAndTellsHowTasksCompare) {
  RunSummary summary([] { return clock_now; });
  const int one = 0, other = 0;
  clock_now = 1'000'000;
  summary.window_opened(&one);
  clock_now = 2'000'000;
  summary.window_opened(&other);
  clock_now = 3'500'000;
  summary.window_closed(&one);
  summary.window_closed(&other);
  summary.window_closed(&other);
  EXPECT_EQ(summary.line(1, 1, {}), "1 launch: 1 as tasks, 0 passed through; held back for 4.0 ms");
  EXPECT_EQ(summary.line(90, 10, 0.5),
            "90 launches: 10 as tasks, 0 passed through, 80 plainly; held back for 4.0 ms; tasks "
            "were 2.00 x as fast as plain launches");
}

}  // namespace
}  // namespace sluice::runtime
