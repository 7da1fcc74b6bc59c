// Streams of several contexts, of one device or of several: each is one of its own, also where
// handles are the same, and what is done in it is done in its context.
#include <fstream>

#include "base/scratch_folder.hpp"
#include "dro/journal/journal_reader.hpp"
#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using ::testing::ElementsAre;
using testing::FakeDevice;
using testing::PingPong;

void* context(uintptr_t number) {
  return reinterpret_cast<void*>(number);
}
StreamKey stream(uintptr_t of_context, uintptr_t handle) {
  return {context(of_context), reinterpret_cast<void*>(handle)};
}

class ContextsTest : public testing::RuntimeTest {
 protected:
  void TearDown() override {
    FakeDevice::current_context() = nullptr;
    RuntimeTest::TearDown();
  }
  // begin() has the device busy, with nothing launched.
  void begin(const Config& config = {}) {
    start(config);
    programs[0].allocate_in(*runtime);
    programs[1].allocate_in(*runtime);
    device.pause();
  }
  void launch(uintptr_t in, uint32_t t, uintptr_t handle = 0) {
    FakeDevice::current_context() = context(in);
    ASSERT_EQ(programs[in - 1].launch(*runtime, kernels["step"], t, stream(in, handle)), 0);
  }
  void end() {
    runtime->flush();
    device.resume();
    device.wait_idle();
  }

  PingPong programs[2] = {PingPong(64), PingPong(64)};
};

TEST_F(ContextsTest, DefaultStreamsOfTwoContextsShareNoWindow) {
  for (const uintptr_t handle : {0, 2}) {
    begin();
    for (uint32_t t = 0; t < 3; ++t) {
      launch(1, t, handle);
      launch(2, t, handle);
    }
    end();
    const std::string name = handle == 0 ? "window 0 of " : "window 2 of ";
    const std::vector<std::string> events = device.events();
    EXPECT_EQ(std::ranges::count(events, name + "1"), handle == 0 ? 2 : 3);
    EXPECT_EQ(std::ranges::count(events, name + "2"), handle == 0 ? 2 : 3);
    TearDown();
    device.forget_events();
  }
}

// By their thread's own default stream, or by a stream that it is ordered with, as ever.
TEST_F(ContextsTest, ADefaultStreamClosesWindowsOfItsContextAlone) {
  begin();
  launch(1, 0, 16);
  launch(1, 1, 16);
  launch(2, 0);
  EXPECT_THAT(device.events(), ElementsAre("window 16 of 1", "window 0 of 2"));
  FakeDevice::current_context() = context(2);
  runtime->flush(OfStream{stream(2, 0)});
  EXPECT_EQ(device.events().size(), 2U);
  FakeDevice::current_context() = context(1);
  runtime->flush(OfStream{stream(1, 0)});
  EXPECT_THAT(device.events(), ElementsAre("window 16 of 1", "window 0 of 2", "window 16 of 1"));
  end();
}

TEST_F(ContextsTest, StreamsOfTwoContextsDoNotJoin) {
  device.takes_events = true;
  device.joins = true;
  for (const uintptr_t waits : {1, 2}) {
    begin();
    launch(1, 0, 16);
    launch(waits, 0, 32);
    launch(1, 1, 16);
    FakeDevice::current_context() = context(1);
    ASSERT_TRUE(runtime->take(EventRecord{context(9), stream(1, 16)}).has_value());
    FakeDevice::current_context() = context(waits);
    EXPECT_EQ(runtime->take(EventWait{context(9), stream(waits, 32)}).has_value(), waits == 1);
    end();
    TearDown();
  }
}

TEST_F(ContextsTest, TheJournalSaysOnWhichDeviceALaunchWas) {
  const ScratchFolder scratch;
  begin({.journal_path = scratch.file("journal")});
  launch(1, 0);
  launch(2, 0);
  launch(2, 1, 16);
  launch(1, 1);
  end();
  runtime->finish();
  auto reader = dro::JournalReader::open(scratch.file("journal"));
  ASSERT_TRUE(reader);
  std::vector<dro::StreamName> streams;
  ASSERT_TRUE(reader->each([&](const dro::JournalRecord& record) -> Status {
    if (const auto* launch = std::get_if<dro::LaunchRecord>(&record.value))
      streams.push_back(launch->details.stream);
    return {};
  }));
  EXPECT_EQ(streams, (std::vector<dro::StreamName>{{0, 1}, {1, 2}, {2, 2}, {0, 1}}));
}

}  // namespace
}  // namespace sluice::runtime
