// The driver's functions as the megakernel calls them, those of the CPU device behind them: what is
// called is noted, and what a GPU's driver does otherwise can be made up.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "megakernel/cuda/cuda_driver.hpp"

namespace sluice::megakernel::testing {

// RecordingDriver stands for one driver at a time.
class RecordingDriver {
 public:
  RecordingDriver() {
    current() = this;
    EXPECT_EQ(real_.look_up([](const char* name) { return dlsym(RTLD_DEFAULT, name); }), nullptr);
    driver = real_;
    driver.cuThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode* mode) {
      std::swap(*mode, mode_of_thread());
      return CUDA_SUCCESS;
    };
    driver.cuModuleLoadDataEx = [](CUmodule* module, const void* image, unsigned count,
                                   CUjit_option* options, void** values) {
      current()->forbid_in_capture();
      ++current()->modules;
      if (current()->jit_log.empty())
        return current()->real_.cuModuleLoadDataEx(module, image, count, options, values);
      for (unsigned i = 0; i < count; ++i) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
          std::strcpy(static_cast<char*>(values[i]), current()->jit_log.c_str());
      }
      return CUDA_ERROR_INVALID_PTX;
    };
    driver.cuModuleUnload = [](CUmodule module) {
      current()->forbid_in_capture();
      if (current()->while_unloading != nullptr) current()->while_unloading();
      return current()->real_.cuModuleUnload(module);
    };
    driver.cuMemAlloc_v2 = [](CUdeviceptr* address, size_t bytes) {
      current()->forbid_in_capture();
      return current()->real_.cuMemAlloc_v2(address, bytes);
    };
    driver.cuMemHostAlloc = [](void** address, size_t bytes, unsigned flags) {
      current()->forbid_in_capture();
      return current()->real_.cuMemHostAlloc(address, bytes, flags);
    };
    driver.cuMemcpyHtoDAsync_v2 = [](CUdeviceptr to, const void* from, size_t bytes,
                                     CUstream stream) {
      unsigned flags = 0;
      if (cuMemHostGetFlags(&flags, const_cast<void*>(from)) != CUDA_SUCCESS)
        ++current()->copies_of_pageable_memory;
      return current()->real_.cuMemcpyHtoDAsync_v2(to, from, bytes, stream);
    };
    driver.cuEventCreate = [](CUevent* event, unsigned flags) {
      current()->forbid_in_capture();
      ++current()->events;
      return current()->real_.cuEventCreate(event, flags);
    };
    driver.cuEventSynchronize = [](CUevent event) {
      current()->forbid_in_capture();
      return current()->real_.cuEventSynchronize(event);
    };
    driver.cuLaunchKernel = [](CUfunction function, unsigned x, unsigned y, unsigned z, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream stream,
                               void** parameters, void** extra) {
      CUcontext context = nullptr;
      cuCtxGetCurrent(&context);
      current()->launched_in.push_back(context);
      if (current()->fails_launches) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
      return current()->real_.cuLaunchKernel(function, x, y, z, bx, by, bz, shared, stream,
                                             parameters, extra);
    };
  }
  RecordingDriver(const RecordingDriver&) = delete;
  RecordingDriver& operator=(const RecordingDriver&) = delete;

  CudaDriver driver;
  std::string jit_log;  // not empty: code does not load, and this is why
  std::function<void()> while_unloading;
  std::atomic<bool> fails_launches{false};
  std::atomic<unsigned> modules{0};
  std::vector<CUcontext> launched_in;  // each launch of a megakernel
  std::atomic<unsigned> events{0};
  std::atomic<unsigned> copies_of_pageable_memory{0};
  // Calls that a capture of the program would have refused, or been ended by.
  std::atomic<unsigned> calls_against_captures{0};
  std::atomic<unsigned> calls_that_captures_forbid{0};

  static CUstreamCaptureMode& mode_of_thread() {
    static thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return mode;
  }

 private:
  static RecordingDriver*& current() {
    static RecordingDriver* one = nullptr;
    return one;
  }
  void forbid_in_capture() {
    ++calls_that_captures_forbid;
    if (mode_of_thread() != CU_STREAM_CAPTURE_MODE_RELAXED) ++calls_against_captures;
  }

  CudaDriver real_;
};

}  // namespace sluice::megakernel::testing
