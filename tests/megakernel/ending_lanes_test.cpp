// Kernels whose lanes end while others of their warp exchange values, as bodies in the megakernel's
// PTX on the CPU device: the same answers as plain launches, and no lane ever waits in vain.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <cuda.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/linker.hpp"
#include "megakernel/cuda/tables/device_tables.hpp"
#include "megakernel/cuda/tables/window_tables.h"
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
    CUcontext context = nullptr;
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    std::ifstream file(SLUICE_ENDING_LANES);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    ASSERT_EQ(cuModuleLoadData(&plain_code, text.c_str()), CUDA_SUCCESS);
    ASSERT_NO_FATAL_FAILURE(link(text));

    std::vector<int> values(elements);
    uint32_t state = 7;
    for (int& value : values) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<int>(state >> 16) % 100;
    }
    ASSERT_EQ(cuMemAlloc(&in, 4 * elements), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out, 4 * 2 * elements), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&signal_array, signal_bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyHtoD(in, values.data(), 4 * elements), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8(signal_array, 0, signal_bytes), CUDA_SUCCESS);
  }

  static void link(const std::string& text) {
    const auto module = ptx::parse(text, "ending_lanes");
    ASSERT_TRUE(module) << module.error().line();
    std::vector<const TaskBody*> pointers;
    for (const Case& shown : cases) {
      auto body = rewrite_body(*module, shown.kernel, {shown.block, 1, 1},
                               fmt::format("k{}_", bodies.size()));
      ASSERT_TRUE(body) << body.error().line();
      EXPECT_EQ(body->meets_lanes, shown.meets_lanes);
      bodies.push_back(std::move(*body));
    }
    for (const TaskBody& body : bodies)
      pointers.push_back(&body);
    const auto linked = link_megakernel(pointers);
    ASSERT_TRUE(linked) << linked.error().line();
    threads = worker_threads(pointers);
    CUmodule code = nullptr;
    ASSERT_EQ(cuModuleLoadData(&code, linked->c_str()), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&megakernel, code, megakernel_name), CUDA_SUCCESS);
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
    DeviceTables made = make_device_tables(window, signals, {threads, 64 * 1024}, ++epoch);
    CUdeviceptr tables = 0;
    EXPECT_EQ(cuMemAlloc(&tables, made.bytes.size()), CUDA_SUCCESS);
    made.place(tables, signal_array, signal_array + signal_bytes / 2);
    EXPECT_EQ(cuMemcpyHtoD(tables, made.bytes.data(), made.bytes.size()), CUDA_SUCCESS);
    set_workers(made.window, workers);
    void* parameters[] = {&made.window};
    const std::vector<uint32_t> words = output_of([&] {
      EXPECT_EQ(
          cuLaunchKernel(megakernel, workers, 1, 1, threads, 1, 1,
                         static_cast<unsigned>(made.pool_bytes), nullptr, parameters, nullptr),
          CUDA_SUCCESS);
    });
    cuMemFree(tables);
    return words;
  }

  static constexpr size_t signal_bytes = 16 * 1024;
  static inline std::vector<TaskBody> bodies;
  static inline uint32_t threads = 0;
  static inline CUmodule plain_code = nullptr;
  static inline CUfunction megakernel = nullptr;
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
