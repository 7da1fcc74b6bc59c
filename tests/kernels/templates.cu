// Several instances of one template, with bounds on the launch.
template <class T, int Unroll>
__global__ __launch_bounds__(256, 2) void scale(T* data, T factor, unsigned long long n) {
  unsigned long long i = (blockIdx.x * 1ull * blockDim.x + threadIdx.x) * Unroll;
#pragma unroll
  for (int u = 0; u < Unroll; ++u) {
    if (i + u < n) data[i + u] *= factor;
  }
}
template __global__ void scale<float, 1>(float*, float, unsigned long long);
template __global__ void scale<double, 4>(double*, double, unsigned long long);
template __global__ void scale<unsigned char, 2>(unsigned char*, unsigned char, unsigned long long);
template __global__ void scale<long long, 3>(long long*, long long, unsigned long long);
