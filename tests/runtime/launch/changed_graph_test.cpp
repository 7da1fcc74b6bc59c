// A graph some of whose nodes get other parameters is still repeated as a whole where these decide
// about no bytes, and followed again where they do; answers are those of launches in any case.
#include <cstring>
#include <string>
#include <vector>

#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

// A step to whose cells a number is added.
struct ShiftedArguments {
  const float* in;
  float* out;
  uint32_t n;
  float shift;
};

void run_shifted(const SluiceBlockLaunch* launch, uint32_t first, uint32_t count, void* scratch) {
  testing::run_step(launch, first, count, scratch);
  ShiftedArguments a{};
  std::memcpy(&a, launch->parameters, sizeof a);
  for (uint32_t i = first * testing::cells_per_block;
       i < (first + count) * testing::cells_per_block; ++i)
    if (i >= 1 && i + 1 < a.n) a.out[i] += a.shift;
}

// The graph steps from a to b and back, and then fills the beginning of a. What is computed at once
// is compared with what launches compute.
class ChangedGraphTest : public testing::RuntimeTest {
 protected:
  void SetUp() override {
    testing::FakeKernel& step = kernels["step"];
    step.signature.parameters.push_back({"shift", 20, 4});
    step.signature.parameter_bytes = sizeof(ShiftedArguments);
    step.run = run_shifted;
    device.host_memory = true;
    start();
    for (std::vector<float>* buffer : {&a, &b, &c})
      runtime->memory_allocated(reinterpret_cast<uint64_t>(buffer->data()), cells * sizeof(float));
    arguments = {{a.data(), b.data(), cells, 1}, {b.data(), a.data(), cells, 2}};
    for (const ShiftedArguments& each : arguments) {
      steps.push_back({.function = &step,
                       .grid = {blocks, 1, 1},
                       .block = {testing::cells_per_block, 1, 1},
                       .parameters = &each,
                       .parameter_bytes = sizeof each});
    }
    steps.push_back({.is_fill = 1,
                     .to = reinterpret_cast<uint64_t>(a.data()),
                     .row_bytes = 64,
                     .rows = 1,
                     .element_bytes = 4});
    change();
  }

  // change() says that the graph was changed.
  void change() { device.graph = {steps, ++version}; }
  void launch(uint32_t times = 1) {
    for (uint32_t i = 0; i < times; ++i) {
      ASSERT_EQ(runtime->take(GraphLaunch{this, {}}), 0);
      at_once();
    }
  }
  // twin() is the one of what is computed at once.
  std::vector<float>& twin(const float* buffer) {
    return expected[buffer == a.data() ? 0 : (buffer == b.data() ? 1 : 2)];
  }
  void at_once() {
    for (const ShiftedArguments& each : arguments) {
      const ShiftedArguments same = {twin(each.in).data(), twin(each.out).data(), each.n,
                                     each.shift};
      const SluiceBlockLaunch launch{&same, {blocks, 1, 1}, 0};
      run_shifted(&launch, 0, blocks, nullptr);
    }
    std::vector<float>& filled = twin(reinterpret_cast<const float*>(steps[2].to));
    for (size_t i = 0; i < steps[2].row_bytes; ++i)
      reinterpret_cast<unsigned char*>(filled.data())[i] =
          reinterpret_cast<unsigned char*>(&steps[2].value)[i % steps[2].element_bytes];
  }
  void expect_the_answer() {
    synchronise();
    EXPECT_EQ(a, expected[0]);
    EXPECT_EQ(b, expected[1]);
    EXPECT_EQ(c, expected[2]);
  }
  uint64_t repeated() { return runtime->counters().repeated; }

  static constexpr uint32_t until_known = 4;
  static constexpr uint32_t cells = 1003;
  static constexpr uint32_t blocks =
      (cells + testing::cells_per_block - 1) / testing::cells_per_block;
  std::vector<float> a = std::vector<float>(cells), b = a, c = a;
  std::vector<float> expected[3] = {a, b, c};
  std::vector<ShiftedArguments> arguments;
  std::vector<SluiceGraphStep> steps;
  uint64_t version = 0;
};

TEST_F(ChangedGraphTest, NumbersThatDecideAboutNoBytesAreTakenAsTheyAre) {
  launch(until_known);
  const uint64_t footprints = runtime->counters().footprints;
  device.pause();  // windows that wait keep the numbers that they were given
  for (uint32_t i = 0; i < 50; ++i) {
    arguments[i % 2].shift = static_cast<float>(i);
    if (i % 3 == 0) steps[2].value = i;
    change();
    launch();
  }
  device.resume();
  expect_the_answer();
  EXPECT_EQ(repeated(), 50U * steps.size());
  EXPECT_EQ(runtime->counters().footprints, footprints);
  EXPECT_EQ(kernels["step"].footprints_asked, 1);
}

TEST_F(ChangedGraphTest, ItIsKnownAlsoWhereEachLaunchHasOtherNumbers) {
  for (uint32_t i = 0; i < 10; ++i) {
    arguments[0].shift = static_cast<float>(i);
    change();
    launch();
  }
  EXPECT_EQ(repeated(), 6U * steps.size());
  expect_the_answer();
}

TEST_F(ChangedGraphTest, WhatIsSetToWhatItWasIsNoChange) {
  launch(until_known);
  change();
  launch();
  EXPECT_EQ(repeated(), steps.size());
  expect_the_answer();
}

TEST_F(ChangedGraphTest, AnotherBufferIsFollowedAgain) {
  launch(until_known + 1);
  arguments[0].out = c.data();
  arguments[1].in = c.data();
  change();
  launch();
  EXPECT_EQ(repeated(), 1U * steps.size());
  EXPECT_EQ(runtime->counters().interned, 5U);
  expect_the_answer();
}

TEST_F(ChangedGraphTest, BuffersThatChangePlacesAreFollowedEachTime) {
  for (uint32_t i = 0; i < 20; ++i) {
    arguments[0].out = i % 3 == 0 ? c.data() : b.data();
    arguments[1].in = i % 2 == 0 ? c.data() : b.data();
    change();
    launch();
  }
  EXPECT_EQ(kernels["step"].footprints_asked, 1);
  EXPECT_EQ(runtime->counters().interned, 5U);
  expect_the_answer();
}

TEST_F(ChangedGraphTest, ANumberThatDecidesAboutBytesIsFollowedAgain) {
  launch(until_known + 1);
  arguments[0].n = cells - 100;
  change();
  launch(2);
  EXPECT_EQ(repeated(), 1U * steps.size());
  EXPECT_EQ(kernels["step"].footprints_asked, 2);
  expect_the_answer();
}

TEST_F(ChangedGraphTest, AFillOfOtherBytesIsFollowedAgain) {
  launch(until_known + 1);
  steps[2].row_bytes = 128;
  change();
  launch();
  EXPECT_EQ(repeated(), 1U * steps.size());
  expect_the_answer();
}

TEST_F(ChangedGraphTest, AFillThatIsNoneAnyMoreIsTheDevices) {
  steps[2].to += 2;
  steps[2].element_bytes = 2;
  launch(until_known);
  steps[2].element_bytes = 4;
  change();
  EXPECT_EQ(runtime->take(GraphLaunch{this, {}}), std::nullopt);
}

TEST_F(ChangedGraphTest, OtherBlocksAreFollowedAgain) {
  launch(until_known + 1);
  steps[0].block[0] = 2 * testing::cells_per_block;
  change();
  launch();
  EXPECT_EQ(repeated(), 1U * steps.size());
  expect_the_answer();
}

}  // namespace
}  // namespace sluice::runtime
