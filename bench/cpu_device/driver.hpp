// The driver's calls that the benchmarks need, each ending the program where it fails.
#pragma once

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include <cuda.h>
#include <fmt/format.h>

namespace sluice::bench {

inline void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "?";
  cuGetErrorName(result, &name);
  fmt::print(stderr, "cpu_device: {}: {}\n", what, name);
  std::exit(1);
}

// Buffer is device memory for `count` floats.
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) {
    check(cuMemAlloc(&pointer_, count * sizeof(float)), "cuMemAlloc");
  }
  explicit Buffer(const std::vector<float>& data) : Buffer(data.size()) {
    check(cuMemcpyHtoD(pointer_, data.data(), count_ * sizeof(float)), "cuMemcpyHtoD");
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() { cuMemFree(pointer_); }
  CUdeviceptr* argument() { return &pointer_; }
  void clear() const { check(cuMemsetD8(pointer_, 0, count_ * sizeof(float)), "cuMemsetD8"); }
  std::vector<float> read() const {
    std::vector<float> data(count_);
    check(cuMemcpyDtoH(data.data(), pointer_, count_ * sizeof(float)), "cuMemcpyDtoH");
    return data;
  }

 private:
  size_t count_;
  CUdeviceptr pointer_ = 0;
};

// Context is current on the thread that made it for as long as it lives, and has the kernels of
// files of PTX.
class Context {
 public:
  Context(std::initializer_list<const char*> ptx_files) {
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device_, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    for (const char* ptx_file : ptx_files) {
      std::ifstream file(ptx_file);
      const std::string ptx{std::istreambuf_iterator<char>(file), {}};
      check(cuModuleLoadData(&modules_.emplace_back(), ptx.c_str()), "cuModuleLoadData");
    }
  }
  Context(const Context&) = delete;
  ~Context() { cuDevicePrimaryCtxRelease(device_); }
  CUfunction kernel(const char* name) const {
    CUfunction function = nullptr;
    for (CUmodule module : modules_) {
      if (cuModuleGetFunction(&function, module, name) == CUDA_SUCCESS) return function;
    }
    check(CUDA_ERROR_NOT_FOUND, name);
    return nullptr;
  }

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  std::vector<CUmodule> modules_;
};

}  // namespace sluice::bench
