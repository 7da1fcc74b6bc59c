// The other file of device_linked.cu.
__device__ int offset = 100;
__device__ int square(int value) {
  return value * value;
}
