// Windows go to a backend without the runtime's lock: its calls may wait for room in a stream, and
// that for a launch of another thread.
#include <algorithm>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/fake_backend.hpp"

namespace sluice::runtime {
namespace {

using testing::PingPong;

const StreamKey one_stream{nullptr, reinterpret_cast<void*>(uintptr_t{16})};
const StreamKey other_stream{nullptr, reinterpret_cast<void*>(uintptr_t{32})};

class SubmissionsTest : public testing::RuntimeOverBackendTest {
 protected:
  // The device accepts a launch of each stream, so that the next ones are windows.
  void begin() {
    start();
    backend.ready = true;
    ours.allocate_in(*runtime);
    theirs.allocate_in(*runtime);
    launch(ours, one_stream);
    launch(theirs, other_stream);
    device.wait_idle();
  }
  int launch(PingPong& program, const StreamKey& stream) {
    uint32_t& launched = &program == &ours ? ours_launched : theirs_launched;
    return program.launch(*runtime, kernels["step"], launched++, stream);
  }

  // The first window of `one_stream` is held up on its way until `done`.
  void hold_up_submissions() {
    backend.within_submit = [this](const StreamKey& stream) {
      if (stream == one_stream) wait_for_meanwhile();
    };
  }
  void wait_for_meanwhile() {
    if (is_there.exchange(true)) return;
    arrived.set_value();
    EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready)
        << "nothing else went on";
  }

  void expect_answers() {
    synchronise();
    PingPong expected(64);
    for (uint32_t t = 0; t < ours_launched; ++t)
      expected.step(t);
    EXPECT_EQ(ours, expected);
    PingPong expected_of_theirs(96);
    for (uint32_t t = 0; t < theirs_launched; ++t)
      expected_of_theirs.step(t);
    EXPECT_EQ(theirs, expected_of_theirs);
  }

  PingPong ours{64};
  PingPong theirs{96};
  uint32_t ours_launched = 0;
  uint32_t theirs_launched = 0;
  std::atomic<bool> is_there{false};
  std::promise<void> arrived;
  std::promise<void> done;
};

TEST_F(SubmissionsTest, ThatWaitKeepNoLaunchOfAnotherStreamWaiting) {
  begin();
  hold_up_submissions();
  std::thread host([&] { EXPECT_EQ(launch(ours, one_stream), 0); });
  arrived.get_future().wait();
  EXPECT_EQ(launch(theirs, other_stream), 0);
  EXPECT_EQ(runtime->launch({.function = &kernels["opaque"], .stream = other_stream}), 0);
  done.set_value();
  host.join();
  expect_answers();
}

TEST_F(SubmissionsTest, ArePlannedWithoutTheLockToo) {
  begin();
  backend.within_capacity = [this] { wait_for_meanwhile(); };
  std::thread host([&] { EXPECT_EQ(launch(ours, one_stream), 0); });
  arrived.get_future().wait();
  EXPECT_EQ(launch(theirs, other_stream), 0);
  done.set_value();
  host.join();
  expect_answers();
}

// What the program does behind its launches comes behind them also where another thread's call
// gives them to the device.
TEST_F(SubmissionsTest, ComeBeforeWhatObservesThem) {
  begin();
  device.pause();
  launch(ours, one_stream);
  launch(ours, one_stream);  // held
  hold_up_submissions();
  std::thread host([&] { runtime->flush(); });
  arrived.get_future().wait();
  std::vector<std::future<void>> observers;
  for (const Observed& observed : {Observed(Everything{}), Observed(OfStream{one_stream})}) {
    std::future<void> observer = std::async([&] { runtime->flush(observed); });
    EXPECT_EQ(observer.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    if (std::holds_alternative<OfStream>(observed)) done.set_value();
    observers.push_back(std::move(observer));
  }
  for (std::future<void>& observer : observers)
    observer.wait();
  host.join();
  device.resume();
  expect_answers();
}

// The end of a window gives the next one of its stream, on the device's thread, while the program's
// is still giving a window of another stream that the device orders before it.
TEST_F(SubmissionsTest, GoBehindThoseBeforeThemThatTheDeviceOrdersWithThem) {
  const StreamKey legacy_stream;
  begin();
  launch(ours, legacy_stream);
  device.wait_idle();
  device.pause();
  launch(ours, one_stream);
  launch(ours, legacy_stream);
  launch(ours, one_stream);  // held
  std::atomic<bool> is_given{false};
  backend.within_submit = [&](const StreamKey& stream) {
    if (stream == legacy_stream) is_given = true;
    if (stream != one_stream) return;
    device.resume();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(is_given);
  };
  launch(ours, legacy_stream);  // held, behind the one of before, which is given for that
  expect_answers();
  EXPECT_TRUE(is_given);
}

// Behind a launch of any other stream that may touch anything nobody knows what launches before it
// touch: what comes later joins none of their windows.
TEST_F(SubmissionsTest, AreCutWhereALaunchOfAnotherStreamPassesThrough) {
  begin();
  device.pause();
  launch(ours, one_stream);
  launch(ours, one_stream);  // held
  EXPECT_EQ(runtime->launch({.function = &kernels["opaque"], .stream = other_stream}), 0);
  launch(ours, one_stream);  // held, and gives the one before
  device.resume();
  expect_answers();
  EXPECT_EQ(std::ranges::max(backend.sizes), 1u);
}

TEST_F(SubmissionsTest, TellTheirErrorToTheLaunchThatMakesThem) {
  begin();
  backend.submit_error = 2;
  device.launch_error = 400;  // CUDA_ERROR_INVALID_HANDLE
  EXPECT_EQ(launch(ours, one_stream), 400);
  --ours_launched;
  backend.submit_error = 0;
  device.launch_error = 0;
  EXPECT_EQ(launch(ours, one_stream), 0);
  expect_answers();
}

TEST_F(SubmissionsTest, ThatFailByABugOfOursLoseNoLaunch) {
  begin();
  backend.within_submit = [](const StreamKey&) { throw std::logic_error("of this test"); };
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(launch(ours, one_stream), 0);
  runtime->finish();  // would not end if the window were thought to be with the device
  expect_answers();
}

TEST_F(SubmissionsTest, OfManyThreadsKeepTheirOrder) {
  constexpr uint32_t launches = 400;
  begin();
  const auto run = [&](PingPong& program, const StreamKey& stream, uint32_t rest) {
    for (uint32_t t = 0; t < launches; ++t) {
      ASSERT_EQ(launch(program, stream), 0);
      if (t % 40 == rest) runtime->flush();
      if (t % 70 == rest) runtime->flush(OfStream{stream});
    }
  };
  std::thread host([&] { run(ours, one_stream, 3); });
  run(theirs, other_stream, 17);
  host.join();
  expect_answers();
}

}  // namespace
}  // namespace sluice::runtime
