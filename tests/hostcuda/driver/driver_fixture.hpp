// A test with a current context on the CPU device.
#pragma once

#include <cstddef>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <vector>

#include <cuda.h>
#include <gtest/gtest.h>

namespace sluice::hostcuda {

inline std::string read_text(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Gate is a host function that holds the device until it is opened.
class Gate {
 public:
  CUresult enter(CUstream stream) {
    return cuLaunchHostFunc(
        stream, [](void* gate) { static_cast<Gate*>(gate)->open_.get_future().wait(); }, this);
  }
  void open() { open_.set_value(); }

 private:
  std::promise<void> open_;
};

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  }

  // device_array() makes a copy of the values in device memory, which the context's end frees.
  template <class T>
  CUdeviceptr device_array(const std::vector<T>& values) {
    CUdeviceptr pointer = 0;
    EXPECT_EQ(cuMemAlloc(&pointer, values.size() * sizeof(T)), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(pointer, values.data(), values.size() * sizeof(T)), CUDA_SUCCESS);
    return pointer;
  }

  template <class T>
  std::vector<T> host_array(CUdeviceptr pointer, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cuMemcpyDtoH(values.data(), pointer, count * sizeof(T)), CUDA_SUCCESS);
    return values;
  }

  CUcontext context_ = nullptr;
};

// KernelTest has the kernels of kernels.cu loaded.
class KernelTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    const std::string ptx = read_text(SLUICE_TEST_PTX);
    ASSERT_EQ(cuModuleLoadData(&module_, ptx.c_str()), CUDA_SUCCESS);
  }

  CUfunction function(const char* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&found, module_, name), CUDA_SUCCESS) << name;
    return found;
  }

  // launch() launches one-dimensional grids.
  template <class... Arguments>
  CUresult launch(CUfunction function, unsigned grid, unsigned block, CUstream stream,
                  Arguments... arguments) {
    void* parameters[] = {&arguments..., nullptr};
    return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, parameters, nullptr);
  }

  CUmodule module_ = nullptr;
};

}  // namespace sluice::hostcuda
