#include <numeric>
#include <string>
#include <vector>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

using LaunchTest = KernelTest;

TEST_F(LaunchTest, AddsVectors) {
  for (const int n : {1, 255, 256, 100003}) {
    const auto count = static_cast<size_t>(n);
    std::vector<float> a(count);
    std::vector<float> b(count);
    for (size_t i = 0; i < count; ++i) {
      a[i] = static_cast<float>(i);
      b[i] = static_cast<float>(2 * i) + 0.5f;
    }
    const CUdeviceptr c = device_array(std::vector<float>(count, -1));
    ASSERT_EQ(launch(function("add"), static_cast<unsigned>((n + 255) / 256), 256, nullptr,
                     device_array(a), device_array(b), c, n),
              CUDA_SUCCESS);
    const std::vector<float> sum = host_array<float>(c, count);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(sum[i], a[i] + b[i]) << i;
  }
}

TEST_F(LaunchTest, UsesDynamicSharedMemoryAndBarriers) {
  std::vector<int> values(512);
  std::iota(values.begin(), values.end(), 0);
  CUdeviceptr device = device_array(values);
  void* parameters[] = {&device};
  ASSERT_EQ(cuLaunchKernel(function("reverse"), 4, 1, 1, 128, 1, 1, 128 * 4, nullptr, parameters,
                           nullptr),
            CUDA_SUCCESS);
  const std::vector<int> out = host_array<int>(device, 512);
  for (int i = 0; i < 512; ++i) {
    EXPECT_EQ(out[static_cast<size_t>(i)], i / 128 * 128 + 127 - i % 128);
  }
}

TEST_F(LaunchTest, LaunchesOfEachStreamRunInOrder) {
  constexpr size_t launches = 100;
  struct StreamLog {
    CUstream stream = nullptr;
    CUdeviceptr log = 0;
    CUdeviceptr length = 0;
  };
  StreamLog logs[3];
  for (StreamLog& each : logs) {
    ASSERT_EQ(cuStreamCreate(&each.stream, 0), CUDA_SUCCESS);
    each.log = device_array(std::vector<int>(launches));
    each.length = device_array(std::vector<int>{0});
  }
  const CUfunction append = function("append");
  for (int i = 0; i < static_cast<int>(launches); ++i) {
    for (const StreamLog& each : logs)
      ASSERT_EQ(launch(append, 1, 1, each.stream, each.log, each.length, i), CUDA_SUCCESS);
  }
  std::vector<int> in_order(launches);
  std::iota(in_order.begin(), in_order.end(), 0);
  for (const StreamLog& each : logs)
    EXPECT_EQ(host_array<int>(each.log, launches), in_order);
}

TEST_F(LaunchTest, ParametersAreCopiedAtTheLaunch) {
  const CUdeviceptr values = device_array(std::vector<int>(64, 1));
  CUdeviceptr pointer = values;
  int factor = 2;
  void* parameters[] = {&pointer, &factor};
  const CUfunction scale = function("scale");
  for (factor = 2; factor <= 4; ++factor) {
    ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr),
              CUDA_SUCCESS);
  }
  EXPECT_EQ(host_array<int>(values, 64), std::vector<int>(64, 24));
}

TEST_F(LaunchTest, TakesParametersAsOneBuffer) {
  const CUdeviceptr out = device_array(std::vector<double>{0});
  struct {
    char small;
    double large;
    short middle;
    CUdeviceptr out;
  } buffer = {1, 2.5, 4, out};
  size_t size = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  const CUfunction mixed = function("mixed");
  EXPECT_EQ(cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(host_array<double>(out, 1)[0], 7.5);
  void* parameters[] = {nullptr};
  EXPECT_EQ(cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, extra),
            CUDA_ERROR_INVALID_VALUE);
  size = 8;
  EXPECT_EQ(cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LaunchTest, RefusesShapesOverTheLimits) {
  const CUfunction nothing = function("nothing");
  const auto shape = [&](unsigned gx, unsigned gy, unsigned bx, unsigned by, unsigned bz,
                         unsigned shared) {
    return cuLaunchKernel(nothing, gx, gy, 1, bx, by, bz, shared, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(shape(1, 1, 1025, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(shape(1, 1, 512, 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(shape(1, 1, 1, 1, 65, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(shape(0, 1, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(shape(1, 65536, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(shape(1, 1, 1, 1, 1, 48 * 1024 + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(shape(1, 1, 1024, 1, 1, 48 * 1024), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000),
            CUDA_SUCCESS);
  EXPECT_EQ(shape(1, 1, 1, 1, 1, 100000), CUDA_SUCCESS);
  EXPECT_EQ(launch(function("bounded"), 1, 65, nullptr, CUdeviceptr{0}), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LaunchTest, RefusesHandlesThatAreNone) {
  EXPECT_EQ(launch(nullptr, 1, 1, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(module_), 1, 1, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(function("nothing"), 1, 1, reinterpret_cast<CUstream>(0x77)),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(LaunchTest, ATrapFailsTheContextUntilItIsReset) {
  const CUfunction stop_if = function("stop_if");
  EXPECT_EQ(launch(stop_if, 2, 32, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(stop_if, 2, 32, nullptr, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("kernel stop_if: a thread executed a trap"), std::string::npos) << log;
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(launch(stop_if, 2, 32, nullptr, 0), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(cuLaunchHostFunc(nullptr, [](void*) {}, nullptr), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(LaunchTest, AfterAFaultEachCallOfTheContextReturnsIt) {
  const CUdeviceptr before = device_array(std::vector<int>{1, 2});
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(function("stop_if"), 1, 1, nullptr, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  testing::internal::GetCapturedStderr();
  CUdeviceptr memory = 0;
  void* host = nullptr;
  size_t bytes = 0;
  int value = 0;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUfunction found = nullptr;
  CUmodule loaded = nullptr;
  const CUresult results[] = {
      cuMemAlloc(&memory, 4),
      cuMemFree(before),
      cuMemAllocHost(&host, 4),
      cuMemGetInfo(&bytes, &bytes),
      cuMemcpyDtoH(&value, before, sizeof value),
      cuMemcpyHtoDAsync(before, &value, sizeof value, nullptr),
      cuMemsetD32(before, 0, 1),
      cuStreamCreate(&stream, 0),
      cuStreamQuery(nullptr),
      cuStreamSynchronize(nullptr),
      cuEventCreate(&event, 0),
      cuModuleGetFunction(&found, module_, "nothing"),
      cuModuleLoadData(&loaded, ".version 7.0\n.target sm_75\n.address_size 64\n"),
      cuCtxSynchronize()};
  for (size_t i = 0; i < std::size(results); ++i)
    EXPECT_EQ(results[i], CUDA_ERROR_LAUNCH_FAILED) << "call " << i;
  // What asks about the device and its contexts does not.
  CUcontext current = nullptr;
  CUdevice device = 1;
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(LaunchTest, AttributesAreHonouredOrRefusedByName) {
  CUlaunchAttribute attribute = {};
  CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, nullptr, &attribute, 1};
  const CUfunction nothing = function("nothing");
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  EXPECT_EQ(cuLaunchKernelEx(&config, nothing, nullptr, nullptr), CUDA_SUCCESS);
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  EXPECT_EQ(cuLaunchKernelEx(&config, nothing, nullptr, nullptr), CUDA_SUCCESS);
  attribute.value.cooperative = 1;
  EXPECT_EQ(cuLaunchKernelEx(&config, nothing, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchCooperativeKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr),
            CUDA_SUCCESS);
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuLaunchKernelEx(&config, nothing, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("a launch with thread-block clusters is unsupported"), std::string::npos)
      << log;
}

TEST_F(LaunchTest, CooperativeGridsMustFitTheDevice) {
  int processors = 0;
  int per_processor = 0;
  const CUfunction nothing = function("nothing");
  EXPECT_EQ(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, nothing, 32, 0),
            CUDA_SUCCESS);
  const auto most = static_cast<unsigned>(processors * per_processor);
  EXPECT_EQ(cuLaunchCooperativeKernel(nothing, most, 1, 1, 32, 1, 1, 0, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchCooperativeKernel(nothing, most + 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_F(LaunchTest, OccupancyFollowsTheLimits) {
  int blocks = 0;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("add"), 256, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(blocks, 4);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("bounded"), 65, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(blocks, 0);
  int min_grid = 0;
  int threads = 0;
  EXPECT_EQ(
      cuOccupancyMaxPotentialBlockSize(&min_grid, &threads, function("bounded"), nullptr, 0, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(threads, 64);
  EXPECT_GT(min_grid, 0);
}

}  // namespace
}  // namespace sluice::hostcuda
