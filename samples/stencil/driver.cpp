// The same Jacobi iteration with the CUDA driver API: the kernel is loaded from PTX text.
#include <chrono>
#include <utility>

#include <cuda.h>

#include "stencil.hpp"

extern "C" const char stencil_ptx[];  // ptx.S

#define CHECK_DRIVER(call)                                                         \
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
  sample::parse_options("stencil_driver", argc, argv, option_list(options));
  require_block(options);

  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction stencil;
  CHECK_DRIVER(cuInit(0));
  CHECK_DRIVER(cuDeviceGet(&device, 0));
  CHECK_DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  CHECK_DRIVER(cuCtxSetCurrent(context));
  CHECK_DRIVER(cuModuleLoadData(&module, stencil_ptx));
  CHECK_DRIVER(cuModuleGetFunction(&stencil, module, "stencil"));

  int n = options.size;
  std::vector<float> grid = start_pattern(n);
  const size_t bytes = grid.size() * sizeof(float);
  CUdeviceptr in, out;
  CHECK_DRIVER(cuMemAlloc(&in, bytes));
  CHECK_DRIVER(cuMemAlloc(&out, bytes));
  CHECK_DRIVER(cuMemcpyHtoD(in, grid.data(), bytes));
  CHECK_DRIVER(cuMemcpyHtoD(out, grid.data(), bytes));

  const unsigned blocks_x = (n + options.block_x - 1) / options.block_x;
  const unsigned blocks_y = (n + options.block_y - 1) / options.block_y;
  const auto start = std::chrono::steady_clock::now();
  for (int t = 0; t < options.iterations; ++t) {
    void* arguments[] = {&in, &out, &n};
    CHECK_DRIVER(cuLaunchKernel(stencil, blocks_x, blocks_y, 1, options.block_x, options.block_y, 1,
                                0, nullptr, arguments, nullptr));
    std::swap(in, out);
  }
  CHECK_DRIVER(cuCtxSynchronize());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  CHECK_DRIVER(cuMemcpyDtoH(grid.data(), in, bytes));
  CHECK_DRIVER(cuMemFree(in));
  CHECK_DRIVER(cuMemFree(out));
  CHECK_DRIVER(cuModuleUnload(module));
  CHECK_DRIVER(cuDevicePrimaryCtxRelease(device));
  return report(options, grid, seconds.count());
}
