// A backend whose code comes later: launches pass through until then, none is held back for it, and
// the journal shows the switch.
#include <fstream>
#include <sstream>

#include "base/scratch_folder.hpp"
#include "runtime/fake_backend.hpp"

namespace sluice::runtime {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PingPong;

class BackendTest : public testing::RuntimeOverBackendTest {
 protected:
  // begin() makes launch 0, which the device has to accept before any like it is held.
  void begin() {
    start();
    backend.ready = true;
    program.allocate_in(*runtime);
    EXPECT_EQ(program.launch(*runtime, kernels["step"], 0), 0);
    device.wait_idle();
    EXPECT_THAT(device.events(), ElementsAre("launch step"));
  }

  void run_plainly(uint32_t launches) {
    for (uint32_t t = 0; t < launches; ++t)
      expected.step(t);
  }

  PingPong program{64};
  PingPong expected{64};
};

TEST_F(BackendTest, LaunchesPassThroughUntilTheirCodeIsReady) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  start(Config{.journal_path = journal});
  program.allocate_in(*runtime);
  program.launch(*runtime, kernels["step"], 0);
  program.launch(*runtime, kernels["step"], 1);
  device.wait_idle();
  EXPECT_THAT(device.events(), ElementsAre("launch step", "launch step"));
  backend.ready = true;
  program.launch(*runtime, kernels["step"], 2);
  synchronise();
  program.launch(*runtime, kernels["step"], 3);
  synchronise();
  EXPECT_THAT(device.events(), ElementsAre("launch step", "launch step", "window 0", "window 0"));
  EXPECT_EQ(backend.bodies, 1);
  EXPECT_EQ(backend.launches_asked_for, 2U);  // those that are held
  EXPECT_EQ(backend.questions, 3);            // and none once there is code
  run_plainly(4);
  EXPECT_EQ(program, expected);
  // All the dependences are found, whether a launch passes through or not.
  EXPECT_EQ(runtime->counters().resolved, 3U);
  runtime->finish();
  std::ostringstream text;
  text << std::ifstream(journal).rdbuf();
  const std::string written = text.str();
  size_t reasons = 0;
  for (size_t at = written.find("not ready"); at != std::string::npos;
       at = written.find("not ready", at + 1)) {
    ++reasons;
  }
  EXPECT_EQ(reasons, 2U) << written;
}

TEST_F(BackendTest, LaunchesThatTheProgramWaitsForGoToTheDriverUntouched) {
  start(Config{.policy = Policy::Config()});
  backend.ready = true;
  program.allocate_in(*runtime);
  for (uint32_t t = 0; t < 20; ++t) {
    program.launch(*runtime, kernels["step"], t);
    synchronise();
  }
  EXPECT_THAT(device.events(), Each("launch step"));
  EXPECT_EQ(backend.questions, 0);
  EXPECT_EQ(kernels["step"].footprints_asked, 0);
  run_plainly(20);
  EXPECT_EQ(program, expected);
}

class WindowsThatPay : public BackendTest {
 protected:
  void begin() {
    start(Config{.policy = Policy::Config{.alone_at_first = false}});
    backend.ready = true;
    backend.device_costs = {.plain_launch = 2'000, .window = 20'000};
    program.allocate_in(*runtime);
    launch(1);
    device.wait_idle();
  }
  void launch(uint32_t launches) {
    for (; launches > 0; --launches)
      program.launch(*runtime, kernels["step"], launched++);
  }
  // launch_together() makes the first of some launches, and the others while the device is busy
  // with that.
  void launch_together(uint32_t launches) {
    device.pause();
    launch(launches);
    runtime->flush();
    device.resume();
    device.wait_idle();
  }

  uint32_t launched = 0;
};

TEST_F(WindowsThatPay, AreThoseThatSpareMoreThanTheyCost) {
  begin();
  launch_together(1 + 10);  // 20 us of gaps, which the window would take
  EXPECT_THAT(backend.sizes, IsEmpty());
  launch_together(1 + 11);
  EXPECT_THAT(backend.sizes, ElementsAre(11));
  launch_together(2);
  EXPECT_THAT(backend.sizes, ElementsAre(11));
  run_plainly(launched);
  EXPECT_EQ(program, expected);
}

TEST_F(WindowsThatPay, AreByWhatTheDeviceCosts) {
  begin();
  backend.device_costs.window = 5'000;
  launch_together(1 + 3);
  EXPECT_THAT(backend.sizes, ElementsAre(3));
}

TEST_F(WindowsThatPay, AreAllWhereThePolicyIsOff) {
  BackendTest::begin();
  launched = 1;
  launch_together(1 + 3);
  EXPECT_THAT(backend.sizes, ElementsAre(1, 3));
}

// A driver's stream would have no room for ever more launches, and its call then waits.
TEST_F(WindowsThatPay, AreAllWhereMuchIsOutstanding) {
  begin();
  backend.device_costs.window = 1'000'000'000;
  launch_together(1 + 3 * 256 + 1);
  EXPECT_THAT(backend.sizes, ElementsAre(256, 256));
  run_plainly(launched);
  EXPECT_EQ(program, expected);
}

// A launch that comes while others run that went plainly is held back.
TEST_F(WindowsThatPay, ComeFromWhatIsHeldBackBehindPlainLaunches) {
  begin();
  device.pause();
  launch(1 + 4);
  runtime->flush();
  launch(12);
  device.resume();
  device.wait_idle();  // the device ends what it had, and gets the others
  synchronise();
  EXPECT_THAT(backend.sizes, ElementsAre(12));
  run_plainly(launched);
  EXPECT_EQ(program, expected);
}

TEST_F(BackendTest, AWindowThatTheDeviceRefusesRunsLaunchByLaunch) {
  begin();
  backend.submit_error = 2;
  for (uint32_t t = 1; t < 3; ++t)
    EXPECT_EQ(program.launch(*runtime, kernels["step"], t), 0);
  synchronise();
  EXPECT_THAT(device.events(), ElementsAre("launch step", "launch step", "launch step"));
  run_plainly(3);
  EXPECT_EQ(program, expected);
}

// Code is asked for again, as at a kernel's first launch, and windows do not reach over the end.
TEST_F(BackendTest, CodeEndsWithItsContext) {
  begin();
  program.launch(*runtime, kernels["step"], 1);
  runtime->context_ends(nullptr);
  EXPECT_EQ(backend.contexts_ended, 1);
  EXPECT_THAT(device.events(), ElementsAre("launch step", "window 0"));
  program.launch(*runtime, kernels["step"], 2);
  synchronise();
  EXPECT_EQ(backend.bodies, 2);
  run_plainly(3);
  EXPECT_EQ(program, expected);
}

TEST_F(BackendTest, AnErrorOfTheDeviceComesBackFromALaterLaunch) {
  begin();
  backend.device_error = 700;
  EXPECT_EQ(program.launch(*runtime, kernels["step"], 1), 0);
  synchronise();
  EXPECT_EQ(program.launch(*runtime, kernels["step"], 2), 719);  // CUDA_ERROR_LAUNCH_FAILED
}

// Only the driver knows what a kernel's registers, bounds and settings allow: a launch is held when
// it has accepted one with this block under these settings, and what it refuses never is.
TEST_F(BackendTest, NoLaunchIsHeldThatTheDriverHasNotAccepted) {
  start();
  backend.ready = true;
  program.allocate_in(*runtime);
  device.launch_error = 701;  // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
  for (uint32_t t = 0; t < 3; ++t)
    EXPECT_EQ(program.launch(*runtime, kernels["step"], t), 701);
  device.launch_error = 0;
  EXPECT_EQ(program.launch(*runtime, kernels["step"], 0), 0);
  synchronise();
  EXPECT_EQ(program.launch(*runtime, kernels["step"], 1), 0);
  synchronise();
  runtime->function_changed(&kernels["step"]);
  device.launch_error = 701;
  EXPECT_EQ(program.launch(*runtime, kernels["step"], 2), 701);
  EXPECT_THAT(device.events(), ElementsAre("refused step", "refused step", "refused step",
                                           "launch step", "window 0", "refused step"));
  run_plainly(2);
  EXPECT_EQ(program, expected);
}

}  // namespace
}  // namespace sluice::runtime
