// Streams that wait for each other's events share their windows.
#include <algorithm>
#include <tuple>

#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::PingPong;
using ::testing::SizeIs;

class JoinedStreamsTest : public testing::RuntimeTest {
 protected:
  // begin() has the device busy with a launch of each of the streams 1 and 2.
  void begin(const Config& config = Config{}) {
    start(config);
    for (PingPong* const each : {&program, &other})
      each->allocate_in(*runtime);
    device.takes_events = device.joins = true;
    device.pause();
    launch(program, 0, 1);
    launch(other, 0, 2);
  }
  void launch(PingPong& data, uint32_t t, uintptr_t on) {
    ASSERT_EQ(data.launch(*runtime, kernels["step"], t, stream(on)), 0);
  }
  bool records(uintptr_t event_number, uintptr_t on) {
    return runtime->take(EventRecord{event(event_number), stream(on)}).has_value();
  }
  bool waits(uintptr_t event_number, uintptr_t on) {
    return runtime->take(EventWait{event(event_number), stream(on)}).has_value();
  }
  // join() has stream 2 wait for launch 1 of stream 1; both are held.
  void join() {
    launch(program, 1, 1);
    ASSERT_TRUE(records(1, 1));
    ASSERT_TRUE(waits(1, 2));
  }
  void expect_steps(const PingPong& data, uint32_t steps) {
    PingPong expected(64);
    for (uint32_t t = 0; t < steps; ++t)
      expected.step(t);
    EXPECT_EQ(data, expected);
  }
  static StreamKey stream(uintptr_t number) {
    return {nullptr, reinterpret_cast<void*>(number * 16)};
  }
  static void* event(uintptr_t number) { return reinterpret_cast<void*>(number); }

  PingPong program{64};
  PingPong other{64};
};

TEST_F(JoinedStreamsTest, AWaitForAHeldEventClosesNoWindow) {
  begin();
  join();
  launch(program, 2, 2);  // reads what stream 1 wrote
  launch(other, 1, 1);
  EXPECT_THAT(device.events(), SizeIs(2));
  runtime->flush();
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32", "window 16 32"));
  device.resume();
  device.wait_idle();
  expect_steps(program, 3);
  expect_steps(other, 2);
}

TEST_F(JoinedStreamsTest, AStreamGoesOnWhenItsOwnLaunchesAndThoseThatItWaitsForAreDone) {
  begin(Config{.workers = 1});
  join();
  launch(other, 1, 1);
  EXPECT_TRUE(records(2, 2));
  runtime->flush();
  device.resume();
  device.wait_idle();
  const std::vector<std::string> events = device.events();
  const auto place = [&](const char* name) {
    EXPECT_THAT(events, Contains(name));
    return std::ranges::find(events, name) - events.begin();
  };
  // Stream 2 has nothing of its own, and does not wait for the last launch of stream 1.
  EXPECT_LT(place("reached 1"), place("reached 2"));
  EXPECT_LT(place("reached 2"), place("end of 32"));
  EXPECT_LT(place("end of 32"), place("end of 16"));
}

TEST_F(JoinedStreamsTest, LaterWindowsHoldBothStreamsUntilSomebodyObservesOne) {
  begin(Config{.window_launches = 4});
  join();
  launch(other, 1, 2);
  launch(program, 2, 1);
  launch(other, 2, 2);  // the fourth
  EXPECT_EQ(device.events().back(), "window 16 32");
  launch(program, 3, 1);
  launch(other, 3, 2);
  EXPECT_THAT(device.events(), SizeIs(3));
  runtime->flush(OfStream{stream(2)});
  EXPECT_THAT(device.events(), SizeIs(4));
  EXPECT_EQ(device.events().back(), "window 16 32");
  launch(program, 4, 1);
  launch(other, 4, 2);  // goes alone again: nothing is in its line
  EXPECT_THAT(device.events(), SizeIs(5));
  EXPECT_EQ(device.events().back(), "window 32");
  device.resume();
  synchronise();
  expect_steps(program, 5);
  expect_steps(other, 5);
}

// An event of an earlier window: the stream has launches in this one already.
TEST_F(JoinedStreamsTest, AWaitForAnEventOfTheWindowBeforeHasItsStreamTakePart) {
  begin(Config{.window_launches = 2});
  join();
  launch(other, 1, 2);  // the second
  EXPECT_THAT(device.events(), SizeIs(3));
  launch(other, 2, 2);
  EXPECT_TRUE(waits(1, 2));
  EXPECT_THAT(device.events(), SizeIs(3));
  runtime->flush();
  EXPECT_EQ(device.events().back(), "window 32 16");
  device.resume();
  synchronise();
}

TEST_F(JoinedStreamsTest, TheLastRecordIsWaitedFor) {
  begin();
  launch(program, 1, 1);
  EXPECT_TRUE(records(1, 1));
  EXPECT_FALSE(records(1, 3));  // the driver's
  EXPECT_FALSE(waits(1, 2));
  EXPECT_EQ(device.events().back(), "window 16");
  launch(other, 1, 2);
  runtime->flush();
  EXPECT_EQ(device.events().back(), "window 32");
  device.resume();
}

TEST_F(JoinedStreamsTest, AReachedEventIsNotWaitedFor) {
  begin();
  launch(other, 1, 2);
  device.reached.insert(event(7));
  EXPECT_TRUE(waits(7, 2));
  EXPECT_FALSE(waits(8, 2));
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32", "window 32"));
  // Where nothing is held the driver looks, also whether there is such a stream.
  EXPECT_FALSE(waits(7, 2));
  EXPECT_FALSE(waits(7, 9));
  device.resume();
}

// A window of several streams begins behind all of them: what stream 2 waits for may be a host
// that waits for stream 1.
TEST_F(JoinedStreamsTest, AStreamBehindWhatWaitsForTheHostGoesAlone) {
  begin();
  device.waiting.insert(stream(2).handle);
  launch(program, 1, 1);
  launch(other, 1, 2);
  EXPECT_TRUE(records(1, 1));
  EXPECT_FALSE(waits(1, 2));
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32", "window 32", "window 16"));
  device.waiting = {};
  launch(program, 2, 1);
  EXPECT_TRUE(records(1, 1));
  EXPECT_TRUE(waits(1, 2));
  runtime->pass_through("other", "for a test");  // closes the window
  device.waiting.insert(stream(2).handle);
  launch(program, 3, 1);
  launch(other, 2, 2);  // stream 2 has left the line
  EXPECT_EQ(device.events().back(), "window 32");
  runtime->flush();
  EXPECT_EQ(device.events().back(), "window 16");
  device.resume();
  synchronise();
  expect_steps(program, 4);
  expect_steps(other, 3);
}

TEST_F(JoinedStreamsTest, AHostFunctionClosesTheWindowsOfItsStreamAlone) {
  begin();
  launch(program, 1, 1);
  launch(other, 1, 2);
  EXPECT_FALSE(runtime->take(HostFunction{stream(2)}).has_value());
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32", "window 32"));
  EXPECT_TRUE(records(1, 1));
  EXPECT_TRUE(waits(1, 2));
  EXPECT_FALSE(runtime->take(HostFunction{stream(2)}).has_value());
  EXPECT_EQ(device.events().back(), "window 16 32");
  // The program has not waited: what the default streams are ordered with is held further on.
  launch(program, 2, 1);
  EXPECT_THAT(device.events(), SizeIs(4));
  EXPECT_FALSE(runtime->take(HostFunction{}).has_value());
  EXPECT_THAT(device.events(), SizeIs(5));
  device.resume();
}

TEST_F(JoinedStreamsTest, DefaultStreamsJoinNoOther) {
  begin();
  launch(program, 1, 1);
  EXPECT_TRUE(records(1, 1));
  EXPECT_FALSE(runtime->take(EventWait{event(1), {}}).has_value());
  EXPECT_THAT(device.events(), SizeIs(3));
  launch(program, 2, 1);
  EXPECT_TRUE(records(1, 1));
  EXPECT_FALSE(runtime->take(EventWait{event(1), {nullptr, StreamKey::per_thread}}).has_value());
  EXPECT_THAT(device.events(), SizeIs(4));
  device.resume();
}

TEST_F(JoinedStreamsTest, WhereTheDeviceTakesNoWindowTheLaunchesKeepTheirOrder) {
  begin();
  join();
  launch(program, 2, 2);
  launch(program, 3, 1);
  device.enqueue_error = 801;  // CUDA_ERROR_NOT_SUPPORTED
  runtime->flush();
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32", "reached 1"));
  device.enqueue_error = 0;
  device.resume();
  // None of them ran: the next call is told.
  EXPECT_EQ(program.launch(*runtime, kernels["step"], 0, stream(1)), 801);
}

TEST_F(JoinedStreamsTest, ManyStreamsGiveTheSequentialAnswer) {
  begin(Config{.workers = 3, .window_launches = 8});
  device.resume();
  for (uint32_t t = 1; t < 300; ++t) {
    const uintptr_t on = 1 + t % 4;
    const uintptr_t before = 1 + (t + 3) % 4;
    if (!waits(before, on)) device.wait_idle();  // as the driver would
    launch(program, t, on);
    std::ignore = records(on, on);
    if (t % 60 == 0) runtime->flush(OfStream{stream(on)});
  }
  synchronise();
  expect_steps(program, 300);
}

}  // namespace
}  // namespace sluice::runtime
