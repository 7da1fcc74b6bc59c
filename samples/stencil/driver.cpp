// The same Jacobi iteration with the CUDA driver API: the kernel is loaded from PTX text.
#include <chrono>
#include <utility>

#include <cuda.h>

#include "stencil.hpp"

extern "C" const char stencil_ptx[];  // ptx.S

#define CHECK(call)                                                                \
  do {                                                                             \
    CUresult status = (call);                                                      \
    if (status != CUDA_SUCCESS) {                                                  \
      const char* text = nullptr;                                                  \
      if (cuGetErrorString(status, &text) != CUDA_SUCCESS) text = "unknown error"; \
      std::printf("FAIL stencil_driver: %s: %s\n", #call, text);                   \
      return 1;                                                                    \
    }                                                                              \
  } while (0)

int main(int argc, char** argv) {
  Options options;
  if (!parse_options(argc, argv, options)) return 2;

  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction stencil;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module, stencil_ptx));
  CHECK(cuModuleGetFunction(&stencil, module, "stencil"));

  int n = options.size;
  std::vector<float> grid = start_pattern(n);
  const size_t bytes = grid.size() * sizeof(float);
  CUdeviceptr in, out;
  CHECK(cuMemAlloc(&in, bytes));
  CHECK(cuMemAlloc(&out, bytes));
  CHECK(cuMemcpyHtoD(in, grid.data(), bytes));
  CHECK(cuMemcpyHtoD(out, grid.data(), bytes));

  const unsigned blocks_x = (n + options.block_x - 1) / options.block_x;
  const unsigned blocks_y = (n + options.block_y - 1) / options.block_y;
  const auto start = std::chrono::steady_clock::now();
  for (int t = 0; t < options.iterations; ++t) {
    void* arguments[] = {&in, &out, &n};
    CHECK(cuLaunchKernel(stencil, blocks_x, blocks_y, 1, options.block_x, options.block_y, 1, 0,
                         nullptr, arguments, nullptr));
    std::swap(in, out);
  }
  CHECK(cuCtxSynchronize());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  CHECK(cuMemcpyDtoH(grid.data(), in, bytes));
  CHECK(cuMemFree(in));
  CHECK(cuMemFree(out));
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease(device));
  return report("stencil_driver", options, grid, seconds.count());
}
