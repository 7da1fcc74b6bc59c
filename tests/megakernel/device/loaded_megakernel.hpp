// Megakernels that tests link and run on the device at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cuda.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/linker.hpp"
#include "megakernel/cuda/tables/device_tables.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel::testing {

// enter_first_device() makes its primary context the thread's current one.
inline void enter_first_device() {
  CUcontext context = nullptr;
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
}

// text_of_file() reads a file of the build, or, where that is not there, the one of its name beside
// the program: so a bundle has it.
inline std::string text_of_file(const std::filesystem::path& path) {
  const auto folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  std::ifstream file(std::filesystem::exists(path) ? path : folder / path.filename());
  return {std::istreambuf_iterator<char>(file), {}};
}

// add_body() rewrites a kernel as one body more.
inline void add_body(std::vector<TaskBody>& bodies, const ptx::Module& module, const char* kernel,
                     const Dim3& block) {
  auto body = rewrite_body(module, kernel, block, fmt::format("k{}_", bodies.size()));
  ASSERT_TRUE(body) << body.error().line();
  bodies.push_back(std::move(*body));
}

inline std::vector<const TaskBody*> pointers_to(const std::vector<TaskBody>& bodies) {
  std::vector<const TaskBody*> pointers;
  for (const TaskBody& body : bodies)
    pointers.push_back(&body);
  return pointers;
}

// LoadedMegakernel stays loaded.
struct LoadedMegakernel {
  CUfunction function = nullptr;
  uint32_t threads = 0;  // of a worker

  // start() puts a window's tables where there is room for them, and launches it.
  void start(DeviceTables& made, CUdeviceptr tables, CUdeviceptr flags, CUdeviceptr counters,
             uint32_t workers) const {
    made.place(tables, flags, counters);
    ASSERT_EQ(cuMemcpyHtoD(tables, made.bytes.data(), made.bytes.size()), CUDA_SUCCESS);
    set_workers(made.window, workers);
    void* parameters[] = {&made.window};
    ASSERT_EQ(cuLaunchKernel(function, workers, 1, 1, threads, 1, 1,
                             static_cast<unsigned>(made.pool_bytes), nullptr, parameters, nullptr),
              CUDA_SUCCESS);
  }
};

inline void load_megakernel(std::span<const TaskBody* const> bodies, LoadedMegakernel& made) {
  const auto linked = link_megakernel(bodies);
  ASSERT_TRUE(linked) << linked.error().line();
  made.threads = worker_threads(bodies);
  CUmodule code = nullptr;
  ASSERT_EQ(cuModuleLoadData(&code, linked->c_str()), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&made.function, code, megakernel_name), CUDA_SUCCESS);
}

// some_values() are numbers below 100, the same in every run.
inline std::vector<int> some_values(size_t count) {
  std::vector<int> values(count);
  uint32_t state = 7;
  for (int& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<int>(state >> 16) % 100;
  }
  return values;
}

}  // namespace sluice::megakernel::testing
