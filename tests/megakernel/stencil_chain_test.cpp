// Chains of Jacobi steps over two buffers: the window's answer is the sequential answer.
#include <vector>

#include <gtest/gtest.h>

#include "megakernel/host/host_executor.hpp"
#include "megakernel/window_builder.hpp"
#include "schedule/validate.hpp"

namespace sluice::megakernel {
namespace {

using testing::cross_table;
using testing::WindowBuilder;

struct Case {
  uint32_t grid_x;
  uint32_t grid_y;
  uint32_t blocks_per_task;
  uint32_t steps;
  uint32_t workers;
};

constexpr uint32_t block_edge = 4;

class Field {
 public:
  explicit Field(const Case& c) : width_(c.grid_x * block_edge), height_(c.grid_y * block_edge) {
    for (auto& buffer : buffers_) {
      buffer.resize(size_t{width_} * height_);
      for (size_t i = 0; i < buffer.size(); ++i) {
        buffer[i] = static_cast<float>((i * 2654435761U) >> 20U & 1023U);
      }
    }
    grid_x_ = c.grid_x;
  }

  void step_block(uint32_t step, uint32_t block) {
    const std::vector<float>& in = buffers_[step % 2];
    std::vector<float>& out = buffers_[(step + 1) % 2];
    const uint32_t x0 = block % grid_x_ * block_edge;
    const uint32_t y0 = block / grid_x_ * block_edge;
    for (uint32_t y = y0; y < y0 + block_edge; ++y) {
      for (uint32_t x = x0; x < x0 + block_edge; ++x) {
        if (x == 0 || y == 0 || x + 1 == width_ || y + 1 == height_) continue;
        const size_t i = size_t{y} * width_ + x;
        out[i] = 0.2F * (in[i] + in[i - 1] + in[i + 1] + in[i - width_] + in[i + width_]);
      }
    }
  }

  const std::vector<float>& buffer(size_t i) const { return buffers_[i]; }

 private:
  uint32_t width_;
  uint32_t height_;
  uint32_t grid_x_ = 0;
  std::vector<float> buffers_[2];
};

// The skewed order of a stencil chain: step t stands `distance` tasks behind step t - 1.
void add_tasks_skewed(schedule::Plan& plan, uint32_t distance) {
  const schedule::LaunchTasks& shape = plan.launches.front();
  const uint32_t tasks =
      (shape.block_count + shape.cut.blocks_per_task - 1) / shape.cut.blocks_per_task;
  const auto steps = static_cast<uint32_t>(plan.launches.size());
  for (uint32_t wave = 0; wave < tasks + distance * (steps - 1); ++wave) {
    for (uint32_t step = 0; step < steps; ++step) {
      if (wave < step * distance || wave - step * distance >= tasks) continue;
      const uint32_t first = (wave - step * distance) * shape.cut.blocks_per_task;
      plan.tasks.push_back(
          {step, first, std::min(shape.cut.blocks_per_task, shape.block_count - first)});
    }
  }
}

void expect_sequential_answer(const Case& c, bool skewed) {
  Field expected(c);
  for (uint32_t step = 0; step < c.steps; ++step) {
    for (uint32_t block = 0; block < c.grid_x * c.grid_y; ++block) {
      expected.step_block(step, block);
    }
  }

  Field field(c);
  const Dim3 grid{c.grid_x, c.grid_y, 1};
  WindowBuilder builder;
  for (uint32_t step = 0; step < c.steps; ++step) {
    builder.add_launch(grid, c.blocks_per_task,
                       [&field, step](uint32_t block, void*) { field.step_block(step, block); });
    if (step > 0) builder.depend(step - 1, cross_table(grid));
  }
  if (skewed) {
    add_tasks_skewed(builder.plan, (c.grid_x + 1) / c.blocks_per_task + 2);
  } else {
    builder.add_tasks_in_launch_order();
  }
  const Status valid = schedule::validate(builder.plan);
  ASSERT_TRUE(valid) << valid.error().line();
  HostExecutor executor(c.workers);
  executor.run(builder.window);
  EXPECT_EQ(field.buffer(0), expected.buffer(0));
  EXPECT_EQ(field.buffer(1), expected.buffer(1));
}

void PrintTo(const Case& c, std::ostream* stream) {
  *stream << c.grid_x << "x" << c.grid_y << " by " << c.blocks_per_task << ", " << c.steps
          << " steps, " << c.workers << " workers";
}

class StencilChain : public ::testing::TestWithParam<Case> {};

TEST_P(StencilChain, InLaunchOrderGivesTheSequentialAnswer) {
  expect_sequential_answer(GetParam(), false);
}

TEST_P(StencilChain, InSkewedOrderGivesTheSequentialAnswer) {
  expect_sequential_answer(GetParam(), true);
}

INSTANTIATE_TEST_SUITE_P(Shapes, StencilChain,
                         ::testing::Values(Case{8, 8, 4, 20, 1}, Case{8, 8, 4, 20, 2},
                                           Case{8, 8, 1, 30, 4}, Case{7, 5, 3, 25, 2},
                                           Case{7, 5, 4, 25, 4}, Case{1, 9, 2, 40, 2},
                                           Case{13, 1, 5, 40, 4}, Case{16, 16, 16, 12, 2},
                                           Case{9, 9, 100, 6, 4}, Case{1, 1, 1, 50, 2}));

}  // namespace
}  // namespace sluice::megakernel
