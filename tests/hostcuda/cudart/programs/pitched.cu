// Pitched memory: 2D and 3D allocation, copies and fills.
#include <vector>

#include <cuda_runtime.h>

#include "check.hpp"

__global__ void transpose(const int* in, size_t in_pitch, int* out, size_t out_pitch, int width,
                          int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    const int* from =
        reinterpret_cast<const int*>(reinterpret_cast<const char*>(in) + y * in_pitch);
    int* to = reinterpret_cast<int*>(reinterpret_cast<char*>(out) + x * out_pitch);
    to[y] = from[x];
  }
}

int main() {
  const int width = 37, height = 53;
  std::vector<int> host(width * height), result(width * height);
  for (int i = 0; i < width * height; ++i)
    host[i] = i;
  int *in, *out;
  size_t in_pitch, out_pitch;
  CHECK(cudaMallocPitch(&in, &in_pitch, width * sizeof(int), height));
  CHECK(cudaMallocPitch(&out, &out_pitch, height * sizeof(int), width));
  EXPECT(in_pitch >= width * sizeof(int));
  CHECK(cudaMemcpy2D(in, in_pitch, host.data(), width * sizeof(int), width * sizeof(int), height,
                     cudaMemcpyHostToDevice));
  CHECK(cudaMemset2D(out, out_pitch, 0, height * sizeof(int), width));
  transpose<<<dim3(5, 7), dim3(8, 8)>>>(in, in_pitch, out, out_pitch, width, height);
  CHECK(cudaMemcpy2D(result.data(), height * sizeof(int), out, out_pitch, height * sizeof(int),
                     width, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x)
      EXPECT(result[x * height + y] == host[y * width + x]);
  }
  EXPECT(cudaMemcpy2D(out, 4, host.data(), 8, 8, 1, cudaMemcpyHostToDevice) ==
         cudaErrorInvalidPitchValue);

  cudaPitchedPtr box;
  const cudaExtent extent = make_cudaExtent(16, 5, 3);
  CHECK(cudaMalloc3D(&box, extent));
  CHECK(cudaMemset3D(box, 7, extent));
  std::vector<unsigned char> bytes(16 * 5 * 3);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = box;
  copy.dstPtr = make_cudaPitchedPtr(bytes.data(), 16, 16, 5);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  for (unsigned char byte : bytes)
    EXPECT(byte == 7);
  CHECK(cudaFree(box.ptr));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  std::printf("ok\n");
  return 0;
}
