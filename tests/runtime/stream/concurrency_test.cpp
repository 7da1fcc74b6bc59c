// Several host threads launch at once, each on data of its own.
#include <thread>

#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using testing::PingPong;

class ConcurrencyTest : public testing::RuntimeTest {
 protected:
  void add_program(uint32_t cells) {
    programs.push_back(std::make_unique<PingPong>(cells));
    programs.back()->allocate_in(*runtime);
  }

  std::vector<std::unique_ptr<PingPong>> programs;
};

TEST_F(ConcurrencyTest, EachThreadsChainHasTheSequentialAnswer) {
  constexpr uint32_t threads = 4;
  constexpr uint32_t launches = 300;
  start(Config{.workers = 3, .window_launches = 32});
  for (uint32_t i = 0; i < threads; ++i)
    add_program(500 + i);
  std::vector<std::thread> hosts;
  for (uint32_t i = 0; i < threads; ++i) {
    hosts.emplace_back([&, i] {
      const StreamKey stream{nullptr, i < 2 ? nullptr : reinterpret_cast<void*>(uintptr_t{16} * i)};
      for (uint32_t t = 0; t < launches; ++t) {
        ASSERT_EQ(programs[i]->launch(*runtime, kernels["step"], t, stream), 0);
        if (t % 50 == i) runtime->flush();
        if (t % 70 == i) launch_plain("opaque");
      }
    });
  }
  for (std::thread& host : hosts) {
    host.join();
  }
  synchronise();
  for (uint32_t i = 0; i < threads; ++i) {
    PingPong expected(500 + i);
    for (uint32_t t = 0; t < launches; ++t) {
      expected.step(t);
    }
    EXPECT_EQ(*programs[i], expected) << "thread " << i;
  }
  EXPECT_EQ(runtime->counters().launches, uint64_t{threads} * launches);
}

// Thousands of launches while the device has none of them done: threads wait for room all the time,
// and the test would not end if one were forgotten.
TEST_F(ConcurrencyTest, ThreadsThatWaitForRoomGoOn) {
  constexpr uint32_t threads = 3;
  constexpr uint32_t launches = 5000;
  start(Config{.workers = 2});
  for (uint32_t i = 0; i < threads; ++i)
    add_program(300);
  std::vector<std::thread> hosts;
  for (uint32_t i = 0; i < threads; ++i) {
    hosts.emplace_back([&, i] {
      const StreamKey stream{nullptr, reinterpret_cast<void*>(uintptr_t{16} * (i + 1))};
      for (uint32_t t = 0; t < launches; ++t)
        ASSERT_EQ(programs[i]->launch(*runtime, kernels["step"], t, stream), 0);
    });
  }
  for (std::thread& host : hosts)
    host.join();
  synchronise();
  PingPong expected(300);
  for (uint32_t t = 0; t < launches; ++t)
    expected.step(t);
  for (const auto& program : programs)
    EXPECT_EQ(*program, expected);
}

// The test would not end if the launch that passes kept others out.
TEST_F(ConcurrencyTest, AThreadLaunchesWhileAnothersLaunchIsWithTheDevice) {
  start();
  PingPong program(100);
  program.allocate_in(*runtime);
  int other = -1;
  device.within_launch = [&] {
    const StreamKey stream{nullptr, reinterpret_cast<void*>(uintptr_t{16})};
    std::thread([&] { other = program.launch(*runtime, kernels["step"], 0, stream); }).join();
  };
  EXPECT_EQ(launch_plain("opaque"), 0);
  EXPECT_EQ(other, 0);
  synchronise();
  PingPong expected(100);
  expected.step(0);
  EXPECT_EQ(program, expected);
}

}  // namespace
}  // namespace sluice::runtime
