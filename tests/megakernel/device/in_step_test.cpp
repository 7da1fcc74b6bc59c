// Kernels that rely on the lanes of a warp running in step, as bodies in the megakernel's PTX on
// the CPU device: the same answers as plain launches, where they run in step as well.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/tables/device_tables.hpp"
#include "megakernel/device/loaded_megakernel.hpp"
#include "megakernel/window_builder.hpp"
#include "ptx/parser.hpp"

namespace sluice::megakernel {
namespace {

constexpr uint32_t elements = 1280;

// What a kernel is given: buffers of so many elements, and how it takes them.
enum class Takes { in_out, in_out_number, in_from_out, out, in_buffer_out, buffer };

struct Case {
  const char* kernel;
  uint32_t blocks;
  Dim3 block;
  Takes takes = Takes::in_out;
};

constexpr Case cases[] = {{"tree_volatile", 5, {256}},
                          {"tree_volatile", 5, {64}},
                          {"tree_plain", 5, {256}},
                          {"tree_loop", 5, {128}},
                          {"warp_trees", 1, {1024}},
                          {"warp_trees", 1, {40}},
                          {"tree_of_two_rows", 1, {16, 16}},
                          {"padded_scan", 1, {256}},
                          {"scan_of_some", 1, {256}},
                          {"scan_of_some", 1, {32}},
                          {"shifts", 1, {256}, Takes::in_out_number},
                          {"tree_in_function", 1, {256}},
                          {"table", 1, {256}, Takes::in_from_out},
                          {"doubling", 1, {256}, Takes::out},
                          {"both_ways", 1, {256}},
                          {"atomic_then_plain", 1, {256}},
                          {"next_in_buffer", 2, {128}, Takes::in_buffer_out},
                          {"shift_in_place", 2, {128}, Takes::buffer},
                          {"lock_and_tree", 1, {64}},
                          {"tree_before_exchange", 1, {256}},
                          {"tree_before_exchange", 1, {32}}};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  return fmt::format("{}_{}", info.param.kernel, info.param.block.count());
}

// Memory of the device is that of all tests.
struct Buffers {
  CUdeviceptr in = 0, from = 0, buffer = 0, out = 0, signals = 0, tables = 0;
};

class InStep : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr size_t signal_bytes = 16 * 1024;
  static constexpr size_t table_bytes = 16 * 1024;

  static void SetUpTestSuite() {
    ASSERT_NO_FATAL_FAILURE(testing::enter_first_device());
    text = testing::text_of_file(SLUICE_IN_STEP_KERNELS);
    ASSERT_EQ(cuModuleLoadData(&plain_code, text.c_str()), CUDA_SUCCESS);
    for (CUdeviceptr* buffer : {&device.in, &device.from, &device.buffer, &device.out})
      ASSERT_EQ(cuMemAlloc(buffer, 4 * elements), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&device.signals, signal_bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&device.tables, table_bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8(device.signals, 0, signal_bytes), CUDA_SUCCESS);
    const std::vector<int> values = testing::some_values(elements);
    std::vector<int> lanes(elements);
    std::transform(values.begin(), values.end(), lanes.begin(), [](int v) { return v % 32; });
    ASSERT_EQ(cuMemcpyHtoD(device.in, values.data(), 4 * elements), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyHtoD(device.from, lanes.data(), 4 * elements), CUDA_SUCCESS);
  }

  // parameters() is the block of them, in 64-bit words.
  static std::vector<uint64_t> parameters(Takes takes) {
    switch (takes) {
      case Takes::in_out_number:
        return {device.in, device.out, 1};
      case Takes::in_from_out:
        return {device.in, device.from, device.out};
      case Takes::out:
        return {device.out};
      case Takes::in_buffer_out:
        return {device.in, device.buffer, device.out};
      case Takes::buffer:
        return {device.buffer};
      default:
        return {device.in, device.out};
    }
  }

  // What `launch` leaves in the two buffers that kernels write.
  template <class Launch>
  static std::vector<uint32_t> output_of(Launch&& launch) {
    EXPECT_EQ(cuMemcpyDtoD(device.buffer, device.in, 4 * elements), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8(device.out, 0xee, 4 * elements), CUDA_SUCCESS);
    launch();
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    std::vector<uint32_t> words(2 * elements);
    EXPECT_EQ(cuMemcpyDtoH(words.data(), device.buffer, 4 * elements), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(words.data() + elements, device.out, 4 * elements), CUDA_SUCCESS);
    return words;
  }

  std::vector<uint32_t> plain_output() {
    CUfunction plain = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&plain, plain_code, shown_.kernel), CUDA_SUCCESS);
    std::vector<void*> pointers;
    for (uint64_t& word : parameters_)
      pointers.push_back(&word);
    return output_of([&] {
      EXPECT_EQ(cuLaunchKernel(plain, shown_.blocks, 1, 1, shown_.block.x, shown_.block.y, 1, 0,
                               nullptr, pointers.data(), nullptr),
                CUDA_SUCCESS);
    });
  }

  // link() makes a megakernel of the kernel, whose workers are at least as wide as `beside`.
  void link(const Dim3& beside) {
    const auto module = ptx::parse(text, "converged");
    ASSERT_TRUE(module) << module.error().line();
    ASSERT_NO_FATAL_FAILURE(testing::add_body(bodies_, *module, shown_.kernel, shown_.block));
    ASSERT_NO_FATAL_FAILURE(testing::add_body(bodies_, *module, "both_ways", beside));
    ASSERT_NO_FATAL_FAILURE(testing::load_megakernel(testing::pointers_to(bodies_), megakernel_));
  }

  std::vector<uint32_t> output_in_megakernel() {
    const Dim3 grid{shown_.blocks, 1, 1};
    testing::WindowBuilder builder;
    builder.add_launch(grid, 2, {});
    builder.add_tasks_in_launch_order();
    const SluiceBlockLaunch launch{parameters_.data(), {grid.x, grid.y, grid.z}, 0};
    const DeviceCode code = device_code(bodies_[0], 0);
    LaunchCode& slot = builder.window.code[0];
    slot.launch = &launch;
    slot.parameter_bytes = static_cast<uint32_t>(8 * parameters_.size());
    slot.device = &code;
    DeviceTables made =
        make_device_tables(builder.window, signals, {megakernel_.threads, 48 * 1024}, ++epoch);
    EXPECT_LE(made.bytes.size(), table_bytes);
    return output_of([&] {
      megakernel_.start(made, device.tables, device.signals, device.signals + signal_bytes / 2, 2);
    });
  }

  static inline std::string text;
  static inline CUmodule plain_code = nullptr;
  static inline Buffers device;
  static inline SignalMemory signals;
  static inline uint64_t epoch = 0;

  const Case& shown_ = GetParam();
  std::vector<uint64_t> parameters_ = parameters(shown_.takes);
  std::vector<TaskBody> bodies_;
  testing::LoadedMegakernel megakernel_;
};

TEST_P(InStep, GivesThePlainAnswers) {
  ASSERT_NO_FATAL_FAILURE(link({32, 1, 1}));
  EXPECT_EQ(output_in_megakernel(), plain_output());
}

// Blocks of small kernels run side by side there.
TEST_P(InStep, GivesThePlainAnswersInWideWorkers) {
  ASSERT_NO_FATAL_FAILURE(link({1024, 1, 1}));
  EXPECT_EQ(output_in_megakernel(), plain_output());
}

INSTANTIATE_TEST_SUITE_P(Kernels, InStep, ::testing::ValuesIn(cases), name_of);

}  // namespace
}  // namespace sluice::megakernel
