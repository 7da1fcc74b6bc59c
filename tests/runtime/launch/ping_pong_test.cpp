// The stencil of the issue in one dimension: what is found, and that the answer is right.
#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using testing::PingPong;

class PingPongTest : public testing::RuntimeTest {
 protected:
  void run(PingPong& program, uint32_t launches) {
    program.allocate_in(*runtime);
    for (uint32_t t = 0; t < launches; ++t) {
      ASSERT_EQ(program.launch(*runtime, kernels["step"], t), 0);
    }
    synchronise();
  }

  static PingPong expected(uint32_t n, uint32_t launches) {
    PingPong program(n);
    for (uint32_t t = 0; t < launches; ++t) {
      program.step(t);
    }
    return program;
  }
};

TEST_F(PingPongTest, AThousandLaunchesAreTwoDrosOneFootprintAndTheSequentialAnswer) {
  start();
  PingPong program(1003);
  run(program, 1000);
  EXPECT_EQ(program, expected(1003, 1000));
  const auto counters = runtime->counters();
  EXPECT_EQ(counters.launches, 1000U);
  EXPECT_EQ(counters.footprints, 1U);
  EXPECT_EQ(counters.interned, 2U);
  EXPECT_EQ(counters.dros, 2U);
  EXPECT_EQ(counters.dro_hits, 997U);
  EXPECT_EQ(counters.resolved, 999U);
  EXPECT_EQ(counters.edge_tables, 1U);
  // 126 blocks in a row: each waits for itself and its neighbours.
  EXPECT_EQ(counters.edges, 999U * (3 * 126 - 2));
  EXPECT_EQ(kernels["step"].footprints_asked, 1);
}

TEST_F(PingPongTest, DrosAreZeroOneTwoTwoHoweverManyLaunches) {
  const std::pair<uint32_t, uint64_t> expected_dros[] = {{1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 2}};
  start();
  for (const auto& [launches, dros] : expected_dros) {
    PingPong program(100);
    const auto before = runtime->counters();
    run(program, launches);
    const auto after = runtime->counters();
    EXPECT_EQ(after.dros - before.dros, dros) << launches << " launches";
    EXPECT_EQ(after.resolved - before.resolved, launches - 1);
    EXPECT_EQ(program, expected(100, launches));
    program.free_in(*runtime);
  }
}

TEST_F(PingPongTest, TheAnswerIsRightForAnyWindowLimitAndAnyNumberOfWorkers) {
  for (const uint32_t limit : {1U, 2U, 7U, 256U}) {
    for (const uint32_t workers : {1U, 2U, 5U}) {
      start(Config{.workers = workers, .window_launches = limit});
      PingPong program(5000);
      run(program, 60);
      EXPECT_EQ(program, expected(5000, 60)) << limit << " launches, " << workers << " workers";
      runtime.reset();
    }
  }
}

TEST_F(PingPongTest, OneWindowHoldsAChainOfManyLaunches) {
  start();
  device.pause();
  PingPong program(20'000);
  program.allocate_in(*runtime);
  for (uint32_t t = 0; t < 200; ++t) {
    ASSERT_EQ(program.launch(*runtime, kernels["step"], t), 0);
  }
  runtime->flush();
  EXPECT_THAT(device.events(), ::testing::ElementsAre("window 0", "window 0"));
  device.resume();
  device.wait_idle();
  EXPECT_EQ(program, expected(20'000, 200));
}

TEST_F(PingPongTest, TheBufferRuleReordersNothing) {
  start(Config{.rule = dro::Rule::buffer});
  PingPong program(3000);
  run(program, 50);
  EXPECT_EQ(program, expected(3000, 50));
  EXPECT_EQ(device.events().size(), 50U);
  EXPECT_EQ(runtime->counters().resolved, 49U);
}

}  // namespace
}  // namespace sluice::runtime
