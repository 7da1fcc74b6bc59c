// The functions of CUDA 2 and 3, and those that are only there to say no.
#include <cstddef>
#include <cstring>

#include <dlfcn.h>

#include "driver_fixture.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace sluice::hostcuda {
namespace {

using EarlyLaunch = KernelTest;

TEST_F(EarlyLaunch, IsPutTogetherByParameter) {
  const CUfunction add = function("add");
  const CUdeviceptr a = device_array(std::vector<float>(200, 1.5F));
  const CUdeviceptr b = device_array(std::vector<float>(200, 2.0F));
  const CUdeviceptr c = device_array(std::vector<float>(200, 0.0F));
  ASSERT_EQ(cuFuncSetBlockShape(add, 64, 1, 1), CUDA_SUCCESS);
  CUdeviceptr pointers[] = {a, b, c};
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(cuParamSetv(add, 8 * i, &pointers[i], 8), CUDA_SUCCESS);
  ASSERT_EQ(cuParamSeti(add, 24, 150), CUDA_SUCCESS);
  ASSERT_EQ(cuParamSetSize(add, 28), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchGrid(add, 4, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  const std::vector<float> sums = host_array<float>(c, 200);
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(sums[static_cast<size_t>(i)], i < 150 ? 3.5F : 0.0F) << i;
}

TEST_F(EarlyLaunch, KeepsWhatWasSaidForTheNext) {
  const CUfunction reverse = function("reverse");
  CUdeviceptr values = device_array(std::vector<int>{1, 2, 3, 4});
  ASSERT_EQ(cuFuncSetBlockShape(reverse, 4, 1, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuFuncSetSharedSize(reverse, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuParamSetv(reverse, 0, &values, 8), CUDA_SUCCESS);
  ASSERT_EQ(cuParamSetSize(reverse, 8), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunch(reverse), CUDA_SUCCESS);
  EXPECT_EQ(host_array<int>(values, 4), (std::vector<int>{4, 3, 2, 1}));
  ASSERT_EQ(cuLaunchGridAsync(reverse, 1, 1, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(host_array<int>(values, 4), (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(EarlyLaunch, RefusesWhatCannotBe) {
  const CUfunction reverse = function("reverse");
  int value = 0;
  EXPECT_EQ(cuFuncSetBlockShape(reverse, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuParamSetv(reverse, -4, &value, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuParamSetv(reverse, 4093, &value, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuParamSetSize(reverse, 4097), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchGrid(reverse, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuParamSeti(reinterpret_cast<CUfunction>(&value), 0, 1), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(EarlyLaunch, TellsPropertiesAsAttributesDo) {
  CUdevprop properties = {};
  ASSERT_EQ(cuDeviceGetProperties(&properties, 0), CUDA_SUCCESS);
  const struct {
    CUdevice_attribute attribute;
    int value;
  } cases[] = {{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, properties.maxThreadsPerBlock},
               {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, properties.maxThreadsDim[2]},
               {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, properties.maxGridSize[0]},
               {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, properties.sharedMemPerBlock},
               {CU_DEVICE_ATTRIBUTE_WARP_SIZE, properties.SIMDWidth},
               {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, properties.clockRate}};
  for (const auto& [attribute, value] : cases) {
    int expected = -1;
    ASSERT_EQ(cuDeviceGetAttribute(&expected, attribute, 0), CUDA_SUCCESS);
    EXPECT_EQ(value, expected) << attribute;
  }
  EXPECT_EQ(cuDeviceGetProperties(&properties, 1), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(EarlyLaunch, CountsWhoUsesAContext) {
  CUcontext made = nullptr;
  ASSERT_EQ(cuCtxCreate(&made, nullptr, 0, 0), CUDA_SUCCESS);
  CUcontext attached = nullptr;
  ASSERT_EQ(cuCtxAttach(&attached, 0), CUDA_SUCCESS);
  EXPECT_EQ(attached, made);
  EXPECT_EQ(cuCtxDetach(made), CUDA_SUCCESS);
  unsigned version = 0;
  EXPECT_EQ(cuCtxGetApiVersion(made, &version), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDetach(made), CUDA_SUCCESS);
  EXPECT_NE(cuCtxGetApiVersion(made, &version), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
}

TEST(UnsupportedFunctions, AreThereAndSaySo) {
  void* library = dlopen(SLUICE_TEST_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  for (const char* name : {
#define SLUICE_UNSUPPORTED(name) #name,
#include "unsupported.def"
#undef SLUICE_UNSUPPORTED
       }) {
    auto* function = reinterpret_cast<CUresult (*)()>(dlsym(library, name));
    ASSERT_NE(function, nullptr) << name;
    if (std::strcmp(name, "cuTexRefCreate") == 0) {
      EXPECT_EQ(function(), CUDA_ERROR_NOT_SUPPORTED);
    }
  }
}

}  // namespace
}  // namespace sluice::hostcuda
