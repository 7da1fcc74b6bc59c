// Launches whose dependences once took minutes or gigabytes to find, or that take long to write
// down: dear_pairs pixels|gathered|wraps|torus|copies|linear. What is found counts, not what comes
// out.
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

__device__ int thread_number() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

// gather() may read all bytes in each block; scatter() may write them.
__global__ void gather(int* to, const int* from, const int* at, int n) {
  const int i = thread_number();
  if (i < n) to[i] = from[at[i]];
}
__global__ void scatter(int* to, const int* at, int n) {
  const int i = thread_number();
  if (i < n) to[at[i]] = 1;
}
// set_channel() writes every third word.
__global__ void set_channel(int* image, int n, int channel, int value) {
  const int i = thread_number();
  if (i < n) image[3 * i + channel] = value;
}
__global__ void neighbours(int* to, const int* from, int n) {
  const int i = thread_number();
  if (i > 0 && i < n - 1) to[i] = from[i - 1] + from[i + 1] * 2 - from[i];
}
// wrap() writes at products that wrap around.
__global__ void wrap(int* to, const int* from, unsigned n, unsigned step) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned j = i * step;
  if (j < n) to[j] = from[n - 1 - j] + static_cast<int>(i);
}
__global__ void torus(int* to, const int* from, int nx, int ny) {
  const int i = thread_number();
  const int x = i % nx, y = i / nx;
  to[i] = from[y * nx + (x + 1) % nx] + from[y * nx + (nx + x - 1) % nx] +
          from[((y + 1) % ny) * nx + x] + from[((ny + y - 1) % ny) * nx + x];
}
// inner() is a stencil whose threads are numbered through the inner points of all planes.
__global__ void inner(int* to, const int* from, int nx, int ny, int nz) {
  const int i = thread_number();
  if (i >= (nx - 2) * (ny - 2) * (nz - 2)) return;
  const int x = i % (nx - 2) + 1, y = i / (nx - 2) % (ny - 2) + 1, z = i / (nx - 2) / (ny - 2) + 1;
  const int at = (z * ny + y) * nx + x;
  to[at] = from[at - 1] + from[at + 1] + from[at - nx] + from[at + nx] + from[at - nx * ny] +
           from[at + nx * ny];
}

namespace {

struct Buffers {
  explicit Buffers(int words) : n(words), numbers(static_cast<size_t>(words)) {
    for (int i = 0; i < n; ++i)
      numbers[static_cast<size_t>(i)] = static_cast<int>(i * 7919LL % n);
    for (int** each : {&a, &b, &at}) {
      cudaMalloc(each, numbers.size() * sizeof(int));
      cudaMemcpy(*each, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice);
    }
  }
  const int n;
  std::vector<int> numbers;
  int *a = nullptr, *b = nullptr, *at = nullptr;
};

void pixels(bool scatters) {
  const Buffers of(3 << 17);
  for (int round = 0; round < 3; ++round) {
    gather<<<of.n / 192, 192>>>(of.b, of.a, of.at, of.n);
    if (scatters) scatter<<<of.n / 192, 192>>>(of.a, of.at, of.n);
    set_channel<<<of.n / 3 / 128, 128>>>(of.a, of.n / 3, round, round);
    neighbours<<<of.n / 192, 192>>>(of.b, of.a, of.n);
    gather<<<of.n / 192, 192>>>(of.a, of.b, of.at, of.n);
  }
}

void wraps() {
  const Buffers of(1 << 18);
  for (int round = 0; round < 12; ++round) {
    wrap<<<of.n / 128, 128>>>(of.a, of.b, of.n, 3U << round);
    neighbours<<<of.n / 128, 128>>>(of.b, of.a, of.n);
    wrap<<<of.n / 128, 128>>>(of.b, of.a, of.n, 0x80000001U);
  }
}

void on_a_torus() {
  const Buffers of(1 << 20);
  int *to = of.b, *from = of.a;
  for (int step = 0; step < 4; ++step, std::swap(to, from))
    torus<<<of.n / 256, 256>>>(to, from, 1024, 1024);
}

// Each copy is one more that is live, until all are read.
void copies() {
  const Buffers of(1 << 16);
  for (int i = 0; i < of.n; i += 64)
    cudaMemcpy(of.a + i, of.numbers.data(), sizeof(int), cudaMemcpyHostToDevice);
  neighbours<<<of.n / 256, 256>>>(of.b, of.a, of.n);
}

void linear() {
  const Buffers of(96 * 80 * 64);
  int *to = of.b, *from = of.a;
  const int threads = 94 * 78 * 62;
  for (int step = 0; step < 4; ++step, std::swap(to, from))
    inner<<<(threads + 127) / 128, 128>>>(to, from, 96, 80, 64);
}

}  // namespace

int main(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "pixels";
  if (std::strcmp(what, "pixels") == 0) pixels(false);
  if (std::strcmp(what, "gathered") == 0) pixels(true);
  if (std::strcmp(what, "wraps") == 0) wraps();
  if (std::strcmp(what, "torus") == 0) on_a_torus();
  if (std::strcmp(what, "copies") == 0) copies();
  if (std::strcmp(what, "linear") == 0) linear();
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  return error == cudaSuccess ? 0 : 1;
}
