// Events that are recorded among launches which are held back.
#include <thread>

#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using ::testing::ElementsAre;
using testing::PingPong;
using ::testing::SizeIs;

class EventTest : public testing::RuntimeTest {
 protected:
  // begin() has the device busy with a launch of each of the streams 1 and 2.
  void begin(const Config& config = Config{}) {
    start(config);
    program.allocate_in(*runtime);
    other.allocate_in(*runtime);
    device.takes_events = true;
    device.pause();
    launch(0);
    launch_other(0);
  }
  void launch(uint32_t t) { ASSERT_EQ(program.launch(*runtime, kernels["step"], t, stream(1)), 0); }
  void launch_other(uint32_t t) {
    ASSERT_EQ(other.launch(*runtime, kernels["step"], t, stream(2)), 0);
  }
  bool records(void* event, const StreamKey& stream) {
    return runtime->take(EventRecord{event, stream}).has_value();
  }
  static StreamKey stream(uintptr_t number) {
    return {nullptr, reinterpret_cast<void*>(number * 16)};
  }
  static void* event(uintptr_t number) { return reinterpret_cast<void*>(number); }

  PingPong program{64};
  PingPong other{64};
};

TEST_F(EventTest, ARecordBetweenLaunchesClosesNoWindow) {
  begin();
  for (uint32_t t = 1; t < 20; ++t) {
    launch(t);
    EXPECT_TRUE(records(event(t), stream(1)));
  }
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32"));
  device.resume();
  device.wait_idle();
  std::vector<std::string> expected = {"window 16", "window 32", "window 16"};
  for (uint32_t t = 1; t < 20; ++t)
    expected.push_back("reached " + std::to_string(t));
  EXPECT_EQ(device.events(), expected);
  PingPong steps(64);
  for (uint32_t t = 0; t < 20; ++t)
    steps.step(t);
  EXPECT_EQ(program, steps);
}

TEST_F(EventTest, WhereNothingIsHeldBackTheDriverRecords) {
  begin();
  EXPECT_FALSE(records(event(1), stream(1)));
  EXPECT_FALSE(records(event(2), stream(3)));
  launch(1);
  EXPECT_THAT(device.events(), SizeIs(2));
  device.takes_events = false;
  EXPECT_FALSE(records(event(3), stream(1)));
  // The driver's record comes after what was held back.
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32", "window 16"));
  device.resume();
}

TEST_F(EventTest, WhoWaitsForAnEventClosesItsWindowAlone) {
  begin();
  launch(1);
  launch_other(1);
  EXPECT_TRUE(records(event(1), stream(1)));
  launch(2);
  runtime->flush(BeforeEvent{event(2)});
  EXPECT_THAT(device.events(), SizeIs(2));
  runtime->flush(BeforeEvent{event(1)});
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32", "window 16"));
  runtime->flush(BeforeEvent{event(1)});
  runtime->flush(OfStream{stream(2)});
  EXPECT_THAT(device.events(), ElementsAre("window 16", "window 32", "window 16", "window 32"));
  device.resume();
}

TEST_F(EventTest, OnADefaultStreamItComesAfterWhatAllStreamsHold) {
  begin();
  launch(1);
  launch_other(1);
  EXPECT_FALSE(records(event(1), StreamKey()));
  EXPECT_THAT(device.events(), SizeIs(4));
  launch(2);
  launch_other(2);
  runtime->flush(OfStream{nullptr});
  EXPECT_THAT(device.events(), SizeIs(6));
  device.resume();
}

TEST_F(EventTest, AnotherStreamsRecordComesAfterWhatTheDefaultStreamHolds) {
  begin();
  runtime->flush();
  PingPong third{64};
  third.allocate_in(*runtime);
  ASSERT_EQ(third.launch(*runtime, kernels["step"], 0), 0);
  ASSERT_EQ(third.launch(*runtime, kernels["step"], 1), 0);
  EXPECT_THAT(device.events(), SizeIs(3));
  EXPECT_FALSE(records(event(1), stream(1)));
  EXPECT_THAT(device.events(), SizeIs(4));
  device.resume();
  synchronise();
}

TEST_F(EventTest, AWindowTakesSoManyEventsAndNoMore) {
  begin(Config{.window_launches = 4});
  launch(1);
  for (uintptr_t i = 1; i <= 4; ++i)
    EXPECT_TRUE(records(event(i), stream(1)));
  EXPECT_FALSE(records(event(5), stream(1)));
  EXPECT_THAT(device.events(), SizeIs(3));
  device.resume();
}

TEST_F(EventTest, IsReachedWhereTheDeviceTakesNoWindow) {
  begin();
  launch(1);
  EXPECT_TRUE(records(event(1), stream(1)));
  launch(2);
  device.enqueue_error = 801;  // CUDA_ERROR_NOT_SUPPORTED
  runtime->flush();
  EXPECT_THAT(device.events(),
              ElementsAre("window 16", "window 32", "launch step", "reached 1", "launch step"));
  device.resume();
}

}  // namespace
}  // namespace sluice::runtime
