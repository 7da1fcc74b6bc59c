// The scheduler kernel with rewritten bodies, as the PTX that a GPU gets, on the CPU device: random
// task graphs in random topological orders with random delays. Every block runs once, after all its
// masters.
#include <algorithm>
#include <cstdlib>

#include <cuda.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dro/edges/edge_table.hpp"
#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/tables/device_tables.hpp"
#include "megakernel/cuda/tables/window_tables.h"
#include "megakernel/device/loaded_megakernel.hpp"
#include "megakernel/random_windows.hpp"
#include "ptx/parser.hpp"
#include "schedule/order.hpp"
#include "schedule/task_runs.hpp"
#include "schedule/validate.hpp"

namespace sluice::megakernel {
namespace {

using testing::LoadedMegakernel;
using testing::pick;
using testing::Random;
using testing::random_table;
using testing::shuffle_tasks;
using testing::WindowBuilder;

// The parameters of check_kernels.cu.
struct Checks {
  uint64_t runs, rows, masters, wrong;
};
struct CheckAlone {
  Checks checks;
  uint32_t first_run;
};
struct CheckTogether {
  uint32_t first_run;
  Checks checks;
};
struct CheckDraining {
  Checks checks;
  char pad;
  uint32_t first_run;
};

struct TestKernel {
  const char* name;
  Dim3 block;
  uint32_t dynamic_shared_bytes;
};
constexpr TestKernel kernels[] = {{"check_alone", {8, 2, 1}, 0},
                                  {"check_together", {64, 1, 1}, 0},
                                  {"check_draining", {5, 3, 3}, 180}};

constexpr uint64_t most_bytes = 64 * 1024;

class DeviceWindows : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_NO_FATAL_FAILURE(testing::enter_first_device());
    const auto module = ptx::parse(testing::text_of_file(SLUICE_CHECK_KERNELS), "check_kernels");
    ASSERT_TRUE(module) << module.error().line();
    for (const TestKernel& kernel : kernels)
      ASSERT_NO_FATAL_FAILURE(testing::add_body(bodies, *module, kernel.name, kernel.block));
    std::vector<const TaskBody*> pointers = testing::pointers_to(bodies);
    ASSERT_NO_FATAL_FAILURE(testing::load_megakernel(pointers, narrow));
    EXPECT_EQ(narrow.threads, 64U);
    // No window has the widest body, but its workers run several blocks of the others at once.
    const auto widest = rewrite_body(*module, kernels[0].name, {256, 1, 1}, "widest_");
    ASSERT_TRUE(widest) << widest.error().line();
    pointers.push_back(&*widest);
    ASSERT_NO_FATAL_FAILURE(testing::load_megakernel(pointers, wide));
    EXPECT_EQ(device_code(bodies[0], 0).at_once({wide.threads, most_bytes}, 0), 8U);
    EXPECT_EQ(device_code(bodies[1], 0).at_once({wide.threads, most_bytes}, 0), 4U);
  }

  static inline std::vector<TaskBody> bodies;
  static inline LoadedMegakernel narrow;
  static inline LoadedMegakernel wide;
};

// DeviceArray is device memory that grows.
class DeviceArray {
 public:
  ~DeviceArray() { cuMemFree(address_); }
  CUdeviceptr reserve(size_t bytes) {
    if (bytes > bytes_) {
      cuMemFree(address_);
      EXPECT_EQ(cuMemAlloc(&address_, 2 * bytes), CUDA_SUCCESS);
      bytes_ = 2 * bytes;
      EXPECT_EQ(cuMemsetD8(address_, 0, bytes_), CUDA_SUCCESS);
    }
    return address_;
  }

 private:
  CUdeviceptr address_ = 0;
  size_t bytes_ = 0;
};

// CheckedWindow is a random window whose blocks check themselves.
class CheckedWindow {
 public:
  CheckedWindow(Random& random, const std::vector<TaskBody>& bodies) {
    const uint32_t launches = pick(random, 1, 6);
    if (pick(random, 0, 3) == 0) {
      add_chain(random, launches);
    } else {
      for (uint32_t slot = 0; slot < launches; ++slot)
        add_launch(random);
      builder_.add_tasks_in_launch_order();
      if (pick(random, 0, 3) != 0) shuffle_tasks(random, builder_.plan);
      if (pick(random, 0, 1) != 0) schedule::find_runs(builder_.plan);
    }
    list_masters();
    codes_.reserve(kinds_.size());
    for (uint32_t slot = 0; slot < launches; ++slot)
      add_code(slot, bodies);
  }

  const Window& window() const { return builder_.window; }
  // Whether there are tickets that go round several slots.
  bool goes_round() const {
    return std::ranges::any_of(builder_.plan.runs,
                               [](const schedule::TaskRun& run) { return run.launches > 1; });
  }
  size_t list_bytes() const { return 4 * lists_.size(); }
  uint32_t blocks() const { return blocks_; }

  // The device array holds blocks() runs, then one word for what went wrong, then the lists.
  void bind(CUdeviceptr array) {
    std::vector<uint32_t> words(blocks_ + 1, 0);
    words.insert(words.end(), lists_.begin(), lists_.end());
    ASSERT_EQ(cuMemcpyHtoD(array, words.data(), 4 * words.size()), CUDA_SUCCESS);
    for (size_t slot = 0; slot < kinds_.size(); ++slot) {
      const uint64_t lists = array + 4 * (blocks_ + 1);
      const Checks checks{array, lists + 4 * rows_[slot], lists, array + 4 * blocks_};
      const uint32_t first = first_run_[slot];
      Parameters& parameters = parameters_[slot];
      LaunchCode& launch = builder_.window.code[slot];
      if (kinds_[slot] == 0) {
        parameters.alone = {checks, first};
        launch.parameter_bytes = offsetof(CheckAlone, first_run) + 4;
      } else if (kinds_[slot] == 1) {
        parameters.together = {first, checks};
        launch.parameter_bytes = sizeof(CheckTogether);
      } else {
        parameters.draining = {checks, 7, first};
        launch.parameter_bytes = offsetof(CheckDraining, first_run) + 4;
      }
      launches_[slot] = *launch.launch;
      launches_[slot].parameters = &parameters;
      launches_[slot].dynamic_shared_bytes = kernels[kinds_[slot]].dynamic_shared_bytes;
      launch.launch = &launches_[slot];
    }
  }

  void expect_right(CUdeviceptr array, uint32_t number) const {
    std::vector<uint32_t> words(blocks_ + 1);
    ASSERT_EQ(cuMemcpyDtoH(words.data(), array, 4 * words.size()), CUDA_SUCCESS);
    ASSERT_EQ(words.back(), 0U) << "window " << number;
    for (uint32_t block = 0; block < blocks_; ++block)
      ASSERT_EQ(words[block], 1U) << "window " << number << ", block " << block;
  }

 private:
  union Parameters {
    CheckAlone alone;
    CheckTogether together;
    CheckDraining draining;
  };

  // Launches of which each waits for neighbours in the one before, swept together.
  void add_chain(Random& random, uint32_t launches) {
    const Dim3 grid{pick(random, 1, 7), pick(random, 1, 12), 1};
    const uint32_t blocks_per_task = pick(random, 1, 3);
    for (uint32_t slot = 0; slot < launches; ++slot) {
      builder_.add_launch(grid, blocks_per_task, {});
      if (slot > 0) builder_.depend(slot - 1, testing::cross_table(grid));
      add_checks(random, grid);
    }
    builder_.plan.tiles = {{.first = 0, .end = launches, .slack = pick(random, 0, 4)}};
    schedule::run_by_tiles(builder_.plan);
  }

  void add_launch(Random& random) {
    const auto slot = static_cast<uint32_t>(grids_.size());
    const Dim3 grid{pick(random, 1, 7), pick(random, 1, 6), pick(random, 1, 2)};
    builder_.add_launch(grid, pick(random, 1, 7), {});
    for (uint32_t master = 0; master < slot; ++master) {
      const uint32_t kind = pick(random, 0, 7);
      if (kind < 2) {
        builder_.depend(master, random_table(random, grids_[master], grid));
      } else if (kind == 2) {
        builder_.depend(master, rows_table(grids_[master], grid));
      }
    }
    add_checks(random, grid);
  }

  void add_checks(Random& random, const Dim3& grid) {
    grids_.push_back(grid);
    first_run_.push_back(blocks_);
    blocks_ += static_cast<uint32_t>(grid.count());
    kinds_.push_back(pick(random, 0, 2));
  }

  // Each slave block waits for one whole row of the master, as tiles of a product do: groups.
  static dro::EdgeTable rows_table(const Dim3& master, const Dim3& slave) {
    std::vector<std::vector<dro::BlockRange>> of_block(slave.count());
    const uint32_t rows = master.y * master.z;
    for (uint32_t block = 0; block < of_block.size(); ++block) {
      const uint32_t row = block / slave.x % rows;
      of_block[block] = {{row * master.x, row * master.x + master.x - 1}};
    }
    return testing::ranges_table(master, slave, of_block);
  }

  void list_masters() {
    for (size_t s = 0; s < grids_.size(); ++s) {
      const schedule::LaunchTasks& slot = builder_.plan.launches[s];
      std::vector<uint32_t> row_starts;
      for (uint32_t block = 0; block < slot.block_count; ++block) {
        row_starts.push_back(static_cast<uint32_t>(lists_.size()));
        for (uint32_t i = 0; i < slot.dependence_count; ++i) {
          const schedule::Dependence& d = builder_.plan.dependences[slot.first_dependence + i];
          dro::for_each_master_range(*d.edges, block, 1, [&](uint32_t first, uint32_t last) {
            for (uint32_t b = first; b <= last; ++b)
              lists_.push_back(first_run_[d.master] + b);
          });
        }
      }
      row_starts.push_back(static_cast<uint32_t>(lists_.size()));
      rows_.push_back(static_cast<uint32_t>(lists_.size()));
      lists_.insert(lists_.end(), row_starts.begin(), row_starts.end());
    }
  }

  void add_code(uint32_t slot, const std::vector<TaskBody>& bodies) {
    const TaskBody& body = bodies[kinds_[slot]];
    codes_.push_back(device_code(body, kinds_[slot]));
    builder_.window.code[slot].device = &codes_.back();
    parameters_.emplace_back();
    launches_.emplace_back();
  }

  WindowBuilder builder_;
  std::vector<Dim3> grids_;
  std::vector<uint32_t> first_run_;
  std::vector<uint32_t> kinds_;  // of kernel
  std::vector<uint32_t> lists_;  // masters of each block, and where they begin
  std::vector<uint32_t> rows_;   // of each slot, in lists_
  std::vector<DeviceCode> codes_;
  std::deque<Parameters> parameters_;
  std::deque<SluiceBlockLaunch> launches_;
  uint32_t blocks_ = 0;
};

// SLUICE_DEVICE_WINDOWS=N runs N times as many windows.
uint32_t times() {
  const char* value = std::getenv("SLUICE_DEVICE_WINDOWS");
  return value == nullptr ? 1 : static_cast<uint32_t>(std::max(1, std::atoi(value)));
}

void run_device_windows(const LoadedMegakernel& megakernel, const std::vector<TaskBody>& bodies,
                        uint32_t workers, uint32_t windows) {
  Random random(workers);
  SignalMemory signals;
  DeviceArray flags;
  DeviceArray counters;
  DeviceArray tables;
  DeviceArray checks;
  // Flags and counters begin as zeros, and are never cleared.
  const CUdeviceptr flag_array = flags.reserve(8 * 1024);
  const CUdeviceptr counter_array = counters.reserve(8 * 1024);
  uint32_t round = 0;
  for (uint32_t number = 0; number < windows * times(); ++number) {
    CheckedWindow checked(random, bodies);
    round += checked.goes_round() ? 1 : 0;
    const CUdeviceptr check_array =
        checks.reserve(4 * (checked.blocks() + 1) + checked.list_bytes());
    checked.bind(check_array);
    const Status valid = schedule::validate(checked.window().plan);
    ASSERT_TRUE(valid) << "window " << number << ": " << valid.error().line();
    DeviceTables made =
        make_device_tables(checked.window(), signals, {megakernel.threads, most_bytes}, number + 1);
    ASSERT_LE(std::max(made.flag_count, made.counter_count), 1024U);
    const CUdeviceptr table_array = tables.reserve(made.bytes.size());
    ASSERT_NO_FATAL_FAILURE(
        megakernel.start(made, table_array, flag_array, counter_array, workers));
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    checked.expect_right(check_array, number);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(round, windows * times() / 20);
}

TEST_F(DeviceWindows, OneWorker) {
  run_device_windows(narrow, bodies, 1, 200);
}
TEST_F(DeviceWindows, TwoWorkers) {
  run_device_windows(narrow, bodies, 2, 400);
}
TEST_F(DeviceWindows, ThreeWorkers) {
  run_device_windows(narrow, bodies, 3, 200);
}
TEST_F(DeviceWindows, SixteenWorkersOnFewerThreads) {
  run_device_windows(narrow, bodies, 16, 400);
}
// More than most windows have tasks.
TEST_F(DeviceWindows, AsManyWorkersAsAGpuHasProcessors) {
  run_device_windows(narrow, bodies, 132, 100);
}
TEST_F(DeviceWindows, OneWorkerOfBlocksSideBySide) {
  run_device_windows(wide, bodies, 1, 100);
}
TEST_F(DeviceWindows, TwoWorkersOfBlocksSideBySide) {
  run_device_windows(wide, bodies, 2, 100);
}
TEST_F(DeviceWindows, ThreeWorkersOfBlocksSideBySide) {
  run_device_windows(wide, bodies, 3, 100);
}
TEST_F(DeviceWindows, SixteenWorkersOfBlocksSideBySide) {
  run_device_windows(wide, bodies, 16, 100);
}
TEST_F(DeviceWindows, AsManyWorkersOfBlocksSideBySideAsAGpuHasProcessors) {
  run_device_windows(wide, bodies, 132, 50);
}

}  // namespace
}  // namespace sluice::megakernel
