// Kernels whose lanes end while others of their warp exchange values, as bodies in the megakernel's
// PTX on the CPU device: the same answers as plain launches, and no lane ever waits in vain.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/tables/device_tables.hpp"
#include "megakernel/cuda/tables/window_tables.h"
#include "megakernel/device/loaded_megakernel.hpp"
#include "megakernel/window_builder.hpp"
#include "ptx/parser.hpp"

namespace sluice::megakernel {
namespace {

constexpr uint32_t elements = 1000;
constexpr uint32_t untouched = 0xdeadbeef;

struct Case {
  const char* kernel;
  uint32_t block;
  bool meets_lanes;
};

struct Parameters {
  CUdeviceptr in;
  CUdeviceptr out;
  int n;
};

constexpr Case cases[] = {{"end_beyond_data", 128, true},     {"end_beyond_data", 48, true},
                          {"end_turn_by_turn", 64, true},     {"end_turn_by_turn", 20, true},
                          {"end_after_half", 96, true},       {"end_between_barriers", 128, true},
                          {"end_between_barriers", 80, true}, {"end_before_groups", 128, true},
                          {"end_after_ballot", 192, true},    {"end_behind_call", 64, true}};

// The bodies of all cases stand in one megakernel, so most run in workers wider than their blocks.
class EndingLanes : public ::testing::TestWithParam<size_t> {
 protected:
  static void SetUpTestSuite() {
    // What waits in vain is told as information.
    setenv("SLUICE_LOG", "info", 1);
    ASSERT_NO_FATAL_FAILURE(testing::enter_first_device());
    const std::string text = testing::text_of_file(SLUICE_ENDING_LANES);
    ASSERT_EQ(cuModuleLoadData(&plain_code, text.c_str()), CUDA_SUCCESS);
    ASSERT_NO_FATAL_FAILURE(link(text));

    const std::vector<int> values = testing::some_values(elements);
    ASSERT_EQ(cuMemAlloc(&in, 4 * elements), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out, 4 * 2 * elements), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&signal_array, signal_bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyHtoD(in, values.data(), 4 * elements), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8(signal_array, 0, signal_bytes), CUDA_SUCCESS);
  }

  static void link(const std::string& text) {
    const auto module = ptx::parse(text, "ending_lanes");
    ASSERT_TRUE(module) << module.error().line();
    for (const Case& shown : cases) {
      ASSERT_NO_FATAL_FAILURE(
          testing::add_body(bodies, *module, shown.kernel, {shown.block, 1, 1}));
      EXPECT_EQ(bodies.back().meets_lanes, shown.meets_lanes);
    }
    ASSERT_NO_FATAL_FAILURE(testing::load_megakernel(testing::pointers_to(bodies), megakernel));
  }

  // The output after `launch`, in which only what was written differs from `untouched`.
  template <class Launch>
  static std::vector<uint32_t> output_of(Launch&& launch) {
    EXPECT_EQ(cuMemsetD32(out, untouched, 2 * elements), CUDA_SUCCESS);
    ::testing::internal::CaptureStderr();
    launch();
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(::testing::internal::GetCapturedStderr().find("wait in vain"), std::string::npos);
    std::vector<uint32_t> words(2 * elements);
    EXPECT_EQ(cuMemcpyDtoH(words.data(), out, 4 * words.size()), CUDA_SUCCESS);
    return words;
  }

  static std::vector<uint32_t> output_in_megakernel(const Window& window, uint32_t workers) {
    DeviceTables made =
        make_device_tables(window, signals, {megakernel.threads, 64 * 1024}, ++epoch);
    CUdeviceptr tables = 0;
    EXPECT_EQ(cuMemAlloc(&tables, made.bytes.size()), CUDA_SUCCESS);
    const std::vector<uint32_t> words = output_of([&] {
      megakernel.start(made, tables, signal_array, signal_array + signal_bytes / 2, workers);
    });
    cuMemFree(tables);
    return words;
  }

  static constexpr size_t signal_bytes = 16 * 1024;
  static inline std::vector<TaskBody> bodies;
  static inline CUmodule plain_code = nullptr;
  static inline testing::LoadedMegakernel megakernel;
  static inline CUdeviceptr in = 0;
  static inline CUdeviceptr out = 0;
  static inline CUdeviceptr signal_array = 0;
  static inline SignalMemory signals;
  static inline uint64_t epoch = 0;
};

TEST_P(EndingLanes, GiveThePlainAnswers) {
  const Case& shown = cases[GetParam()];
  const TaskBody& body = bodies[GetParam()];
  const uint32_t blocks = (elements + shown.block - 1) / shown.block;
  Parameters parameters{in, out, static_cast<int>(elements)};
  CUfunction plain = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&plain, plain_code, shown.kernel), CUDA_SUCCESS);
  void* plain_parameters[] = {&parameters.in, &parameters.out, &parameters.n};
  const std::vector<uint32_t> wanted = output_of([&] {
    EXPECT_EQ(cuLaunchKernel(plain, blocks, 1, 1, shown.block, 1, 1, 0, nullptr, plain_parameters,
                             nullptr),
              CUDA_SUCCESS);
  });
  EXPECT_GT(std::count_if(wanted.begin(), wanted.end(), [](uint32_t w) { return w != untouched; }),
            100);

  // Each worker runs several blocks, and a task three of them.
  testing::WindowBuilder builder;
  builder.add_launch({blocks, 1, 1}, 3, {});
  builder.add_tasks_in_launch_order();
  const SluiceBlockLaunch launch{&parameters, {blocks, 1, 1}, 0};
  const DeviceCode code = device_code(body, static_cast<uint32_t>(GetParam()));
  LaunchCode& slot = builder.window.code[0];
  slot.launch = &launch;
  slot.parameter_bytes = offsetof(Parameters, n) + 4;
  slot.device = &code;
  EXPECT_EQ(output_in_megakernel(builder.window, 1), wanted);
  EXPECT_EQ(output_in_megakernel(builder.window, 2), wanted);
}

INSTANTIATE_TEST_SUITE_P(Kernels, EndingLanes, ::testing::Range(size_t{0}, std::size(cases)),
                         [](const auto& info) {
                           const Case& shown = cases[info.param];
                           return fmt::format("{}_{}", shown.kernel, shown.block);
                         });

}  // namespace
}  // namespace sluice::megakernel
