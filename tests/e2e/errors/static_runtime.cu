// Built with nvcc's default, the static CUDA runtime.
__global__ void nothing() {}

int main() {
  nothing<<<1, 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
