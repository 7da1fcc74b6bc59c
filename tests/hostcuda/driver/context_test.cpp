#include <cstring>
#include <string>
#include <thread>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

using ContextTest = DriverTest;

TEST_F(ContextTest, ThereIsOneDevice) {
  int count = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  char name[100];
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
  EXPECT_EQ(std::string(name).rfind("Sluice CPU device (", 0), 0u) << name;
  size_t memory = 0;
  EXPECT_EQ(cuDeviceTotalMem(&memory, 0), CUDA_SUCCESS);
  EXPECT_GT(memory, size_t{64} << 20);
}

TEST_F(ContextTest, EveryAttributeHasAnAnswer) {
  for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_MAX; ++attribute) {
    int value = -12345;
    EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0),
              CUDA_SUCCESS);
    EXPECT_NE(value, -12345);
  }
  int value = 0;
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 8);
}

TEST_F(ContextTest, ThePrimaryContextIsOneObject) {
  CUcontext again = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&again, 0), CUDA_SUCCESS);
  EXPECT_EQ(again, context_);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  unsigned flags = 0;
  int active = 0;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
}

TEST_F(ContextTest, ContextsStack) {
  CUcontext created = nullptr;
  CUcontext current = nullptr;
  ASSERT_EQ(cuCtxCreate(&created, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, created);
  EXPECT_EQ(cuCtxPopCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, created);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context_);
  EXPECT_EQ(cuCtxPushCurrent(created), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(created), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context_);
  EXPECT_EQ(cuCtxPushCurrent(created), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxPushCurrent(reinterpret_cast<CUcontext>(0x1234)), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ContextTest, DestroyingAContextFreesWhatIsIts) {
  CUcontext created = nullptr;
  ASSERT_EQ(cuCtxCreate(&created, nullptr, 0, 0), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cuMemAlloc(&memory, 100), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDestroy(created), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ContextTest, AThreadWithoutAContextIsTold) {
  CUresult result = CUDA_SUCCESS;
  CUresult after = CUDA_ERROR_UNKNOWN;
  std::thread([&] {
    CUdeviceptr memory = 0;
    result = cuMemAlloc(&memory, 100);
    after = cuCtxSetCurrent(context_);
    if (after == CUDA_SUCCESS) after = cuMemAlloc(&memory, 100);
  }).join();
  EXPECT_EQ(result, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(after, CUDA_SUCCESS);
}

TEST_F(ContextTest, LimitsAreKept) {
  size_t value = 0;
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 12345678), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE), CUDA_SUCCESS);
  EXPECT_EQ(value, 12345678u);
  EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_UNSUPPORTED_LIMIT);
  unsigned version = 0;
  EXPECT_EQ(cuCtxGetApiVersion(context_, &version), CUDA_SUCCESS);
  EXPECT_EQ(version, 3020u);
}

}  // namespace
}  // namespace sluice::hostcuda
