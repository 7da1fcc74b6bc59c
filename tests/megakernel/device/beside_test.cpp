// Blocks that run side by side in workers which are wider than they are, on the CPU device: the
// same answers as plain launches, and each on the threads that are its turn's.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cuda.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/number/divide_up.hpp"
#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/tables/device_tables.hpp"
#include "megakernel/cuda/worker_memory.h"
#include "megakernel/device/loaded_megakernel.hpp"
#include "megakernel/window_builder.hpp"
#include "ptx/parser.hpp"

namespace sluice::megakernel {
namespace {

constexpr uint32_t elements = 1000;
constexpr uint32_t most_blocks = 1024;
constexpr uint32_t untouched = 0xdeadbeef;
constexpr uint32_t blocks_of_task = 7;
constexpr uint64_t plenty = 96 * 1024;

// A kernel with blocks of a size, and how many of them a worker of 256 threads runs at once.
struct Case {
  const char* kernel;
  Dim3 block;
  uint32_t at_once;
  uint32_t dynamic_shared_bytes = 0;
};

constexpr Case cases[] = {{"plain", {1, 1, 1}, 8},
                          {"plain", {31, 1, 1}, 8},
                          {"plain", {32, 1, 1}, 8},
                          {"plain", {33, 1, 1}, 4},
                          {"plain", {48, 1, 1}, 4},
                          {"plain", {64, 1, 1}, 4},
                          {"plain", {96, 1, 1}, 2},
                          {"in_space", {5, 3, 4}, 4},
                          {"in_space", {8, 2, 2}, 8},
                          {"exchanges", {1, 1, 1}, 8},
                          {"exchanges", {31, 1, 1}, 8},
                          {"exchanges", {32, 1, 1}, 8},
                          {"exchanges", {33, 1, 1}, 4},
                          {"exchanges", {64, 1, 1}, 4},
                          {"exchanges", {96, 1, 1}, 2},
                          {"shared_memory", {32, 1, 1}, 8, 4 * 32},
                          {"shared_memory", {64, 1, 1}, 4, 4 * 64},
                          {"shared_memory", {96, 1, 1}, 2, 4 * 96 + 20},
                          {"shared_memory", {128, 1, 1}, 2, 4 * 128},
                          {"shared_by_warps", {32, 1, 1}, 8},
                          {"shared_by_warps", {96, 1, 1}, 2},
                          {"barriers", {32, 1, 1}, 2},
                          {"barriers", {64, 1, 1}, 2},
                          {"barriers", {96, 1, 1}, 2},
                          {"calls", {32, 1, 1}, 8},
                          {"calls", {64, 1, 1}, 4},
                          {"shared_memory", {48, 1, 1}, 1, 4 * 48},
                          {"looks_at_others", {32, 1, 1}, 1},
                          {"ends_early", {64, 1, 1}, 1},
                          {"plain", {160, 1, 1}, 1},
                          {"wide", {256, 1, 1}, 1}};

struct Parameters {
  CUdeviceptr in;
  CUdeviceptr out;
  int count;
};

// The bodies of all cases stand in one megakernel.
class BlocksBeside : public ::testing::TestWithParam<size_t> {
 protected:
  static void SetUpTestSuite() {
    ASSERT_NO_FATAL_FAILURE(testing::enter_first_device());
    const std::string text = testing::text_of_file(SLUICE_BESIDE_KERNELS);
    ASSERT_EQ(cuModuleLoadData(&plain_code, text.c_str()), CUDA_SUCCESS);
    ASSERT_NO_FATAL_FAILURE(link(text));
    const std::vector<int> values = testing::some_values(elements);
    ASSERT_EQ(cuMemAlloc(&in, 4 * elements), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out, 4 * (elements + most_blocks)), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&signal_array, signal_bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyHtoD(in, values.data(), 4 * elements), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8(signal_array, 0, signal_bytes), CUDA_SUCCESS);
  }

  static void link(const std::string& text) {
    const auto module = ptx::parse(text, "beside_kernels");
    ASSERT_TRUE(module) << module.error().line();
    for (const Case& shown : cases)
      ASSERT_NO_FATAL_FAILURE(testing::add_body(bodies, *module, shown.kernel, shown.block));
    ASSERT_NO_FATAL_FAILURE(testing::load_megakernel(testing::pointers_to(bodies), megakernel));
    ASSERT_EQ(megakernel.threads, workers_threads);
  }

  // The output after `launch`, in which only what was written differs from `untouched`.
  template <class Launch>
  static std::vector<uint32_t> output_of(Launch&& launch) {
    EXPECT_EQ(cuMemsetD32(out, untouched, elements + most_blocks), CUDA_SUCCESS);
    launch();
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    std::vector<uint32_t> words(elements + most_blocks);
    EXPECT_EQ(cuMemcpyDtoH(words.data(), out, 4 * words.size()), CUDA_SUCCESS);
    return words;
  }

  // Two launches, of which the second waits for all of the first.
  void run(uint32_t workers, uint64_t most_bytes, uint32_t at_once) {
    SCOPED_TRACE(fmt::format("{} workers with {} bytes", workers, most_bytes));
    testing::WindowBuilder builder;
    const SluiceBlockLaunch launch{
        &parameters_, {grid_.x, grid_.y, grid_.z}, shown_.dynamic_shared_bytes};
    const DeviceCode code = device_code(bodies[GetParam()], static_cast<uint32_t>(GetParam()));
    EXPECT_EQ(code.at_once({workers_threads, most_bytes}, shown_.dynamic_shared_bytes), at_once);
    for (uint32_t i = 0; i < 2; ++i) {
      builder.add_launch(grid_, blocks_of_task, {});
      if (i != 0) builder.depend(0, testing::all_table(grid_, grid_));
      LaunchCode& slot = builder.window.code[i];
      slot.launch = &launch;
      slot.parameter_bytes = offsetof(Parameters, count) + 4;
      slot.device = &code;
    }
    builder.add_tasks_in_launch_order();
    DeviceTables made =
        make_device_tables(builder.window, signals, {workers_threads, most_bytes}, ++seed);
    ASSERT_LE(8 * std::max(made.flag_count, made.counter_count), signal_bytes / 2);
    CUdeviceptr tables = 0;
    ASSERT_EQ(cuMemAlloc(&tables, made.bytes.size()), CUDA_SUCCESS);
    std::vector<uint32_t> words = output_of([&] {
      megakernel.start(made, tables, signal_array, signal_array + signal_bytes / 2, workers);
    });
    cuMemFree(tables);
    expect_turns(words, at_once);
    words.resize(elements);
    EXPECT_EQ(words, wanted_);
  }

  // Block b of a task is run by the group of threads that is the b-th, counted round. Where a GPU
  // keeps a warp does not say which threads it has.
  void expect_turns(const std::vector<uint32_t>& words, uint32_t at_once) const {
    char device[256] = {};
    ASSERT_EQ(cuDeviceGetName(device, sizeof device, 0), CUDA_SUCCESS);
    if (!std::string_view(device).starts_with("Sluice CPU device")) return;
    const uint32_t warps = bodies[GetParam()].beside.threads / 32;
    for (uint32_t block = 0; block < grid_.count(); ++block) {
      const uint32_t warp = words[elements + block];
      // A thread that ended early has noted nothing.
      if (warp == untouched && std::string_view(shown_.kernel) == "ends_early") continue;
      EXPECT_EQ(warp, block % blocks_of_task % at_once * warps) << "block " << block;
    }
  }

  void SetUp() override {
    // More blocks than there are elements for, in rows and planes that tasks begin anywhere in.
    const auto needed = static_cast<uint32_t>(divide_up(elements, shown_.block.count()));
    grid_ = {3, 2, static_cast<uint32_t>(divide_up(needed, 6))};
    ASSERT_LE(grid_.count(), most_blocks);
    parameters_ = {in, out, static_cast<int>(elements)};
    CUfunction plain = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&plain, plain_code, shown_.kernel), CUDA_SUCCESS);
    void* parameters[] = {&parameters_};
    wanted_ = output_of([&] {
      EXPECT_EQ(
          cuLaunchKernel(plain, grid_.x, grid_.y, grid_.z, shown_.block.x, shown_.block.y,
                         shown_.block.z, shown_.dynamic_shared_bytes, nullptr, parameters, nullptr),
          CUDA_SUCCESS);
    });
    wanted_.resize(elements);
  }

  static constexpr uint32_t workers_threads = 256;
  static constexpr size_t signal_bytes = 32 * 1024;
  static inline std::vector<TaskBody> bodies;
  static inline CUmodule plain_code = nullptr;
  static inline testing::LoadedMegakernel megakernel;
  static inline CUdeviceptr in = 0;
  static inline CUdeviceptr out = 0;
  static inline CUdeviceptr signal_array = 0;
  static inline SignalMemory signals;
  static inline uint32_t seed = 0;

  const Case& shown_ = cases[GetParam()];
  Dim3 grid_;
  Parameters parameters_ = {};
  std::vector<uint32_t> wanted_;
};

TEST_P(BlocksBeside, GiveThePlainAnswers) {
  EXPECT_EQ(bodies[GetParam()].one_at_a_time.empty(),
            shown_.at_once > 1 || shown_.block.count() == 160 || shown_.block.count() == 256);
  for (const uint32_t workers : {1U, 2U, 3U, 16U, 132U})
    run(workers, plenty, shown_.at_once);
}

// Where each block has memory of its own, no more run at once than there is memory for.
TEST_P(BlocksBeside, RunInWhatMemoryTheyHave) {
  const TaskBody& body = bodies[GetParam()];
  if (!body.beside.has_memory || shown_.at_once < 2) return run(2, 0, shown_.at_once);
  const uint64_t alone = body.dynamic_offset + shown_.dynamic_shared_bytes;
  const uint64_t more = body.beside.stride(shown_.dynamic_shared_bytes);
  EXPECT_GE(more, alone - body.beside.offset);
  EXPECT_EQ(more % SLUICE_POOL_ALIGNMENT, 0U);
  run(2, 0, 1);
  run(2, alone + more - 1, 1);
  run(2, alone + more, 2);
}

INSTANTIATE_TEST_SUITE_P(Kernels, BlocksBeside, ::testing::Range(size_t{0}, std::size(cases)),
                         [](const auto& info) {
                           const Case& shown = cases[info.param];
                           return fmt::format("{}_{}", shown.kernel, shown.block.count());
                         });

}  // namespace
}  // namespace sluice::megakernel
