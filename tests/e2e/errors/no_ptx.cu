// Built with machine code only: there is nothing that the CPU device could run.
__global__ void nothing() {}

int main() {
  nothing<<<1, 1>>>();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
