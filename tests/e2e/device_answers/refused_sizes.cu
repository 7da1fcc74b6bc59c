// Sizes whose products overflow, and memory that is not there: CUDA's error, outputs left alone.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

int wrong = 0;

void expect(const char* what, cudaError_t found, cudaError_t expected,
            bool outputs_are_kept = true) {
  cudaGetLastError();
  if (found == expected && outputs_are_kept) return;
  ++wrong;
  std::printf("%s: %s, not %s%s\n", what, cudaGetErrorName(found), cudaGetErrorName(expected),
              outputs_are_kept ? "" : "; outputs changed");
}

int main() {
  void* const kept = &wrong;
  const size_t huge = size_t{1} << 40;
  void* pointer = kept;
  size_t pitch = 7;
  expect("cudaMalloc", cudaMalloc(&pointer, ~size_t{0} - 10), cudaErrorMemoryAllocation,
         pointer == kept);
  expect("cudaHostAlloc", cudaHostAlloc(&pointer, ~size_t{0} - 10, 0), cudaErrorMemoryAllocation,
         pointer == kept);
  expect("cudaMallocPitch, 2^80 bytes", cudaMallocPitch(&pointer, &pitch, huge, huge),
         cudaErrorMemoryAllocation, pointer == kept && pitch == 7);
  expect("cudaMallocPitch, 2^64 bytes",
         cudaMallocPitch(&pointer, &pitch, size_t{1} << 31, size_t{1} << 33),
         cudaErrorMemoryAllocation, pointer == kept && pitch == 7);

  cudaPitchedPtr pitched = {kept, 1, 2, 3};
  const auto is_kept = [&] {
    return pitched.ptr == kept && pitched.pitch == 1 && pitched.xsize == 2 && pitched.ysize == 3;
  };
  const size_t side = size_t{1} << 32;
  expect("cudaMalloc3D, 2^64 rows", cudaMalloc3D(&pitched, make_cudaExtent(512, side, side)),
         cudaErrorMemoryAllocation, is_kept());
  expect("cudaMalloc3D, 2^64 bytes",
         cudaMalloc3D(&pitched, make_cudaExtent(512, side, size_t{1} << 23)),
         cudaErrorMemoryAllocation, is_kept());

  char* device;
  char* const host = static_cast<char*>(std::malloc(4096));
  cudaMalloc(&device, 4096);
  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(host, 64, 64, 4);
  box.dstPtr = make_cudaPitchedPtr(device, 64, 64, 4);
  box.kind = cudaMemcpyHostToDevice;
  box.extent = make_cudaExtent(64, side, side);
  expect("cudaMemcpy3D, 2^64 rows", cudaMemcpy3D(&box), cudaErrorInvalidValue);
  box.extent = make_cudaExtent(64, 4, 0);
  expect("cudaMemcpy3D of nothing", cudaMemcpy3D(&box), cudaSuccess);

  expect("cudaHostRegister where nothing is",
         cudaHostRegister(reinterpret_cast<void*>(4096), 4096, 0), cudaErrorInvalidValue);
  expect("cudaHostRegister past the end", cudaHostRegister(host, size_t{1} << 46, 0),
         cudaErrorInvalidValue);
  expect("cudaHostRegister of nothing", cudaHostRegister(host, 0, 0), cudaErrorInvalidValue);
  expect("cudaHostRegister", cudaHostRegister(host, 4096, 0), cudaSuccess);
  expect("cudaHostUnregister", cudaHostUnregister(host), cudaSuccess);
  std::printf("%d wrong\n", wrong);
}
