// Launches that leave their buffers, by little enough that most programs go on, and their right
// twins.
#include "seeded.hpp"

__global__ void fill(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;  // fill
}

static void no_guard(bool is_right) {
  int n = 100;
  fill<<<blocks_for(n, 64), 64>>>(device_array<float>(n), is_right ? n : 1 << 20);
}

__global__ void fill_to(float* a, int last) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= last) a[i] = i;  // fill-to
}

static void off_by_one(bool is_right) {
  fill_to<<<blocks_for(101, 32), 32>>>(device_array<float>(100), is_right ? 99 : 100);
}

__global__ void difference(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + 1] - in[i];  // difference
}

static void reads_one_more(bool is_right) {
  difference<<<3, 50>>>(device_array<float>(150), zeros<float>(150), is_right ? 149 : 150);
}

__global__ void before(float* out, const float* in, int first, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= first && i < n) out[i] = in[i - 1];  // before
}

static void reads_one_less(bool is_right) {
  before<<<2, 70>>>(zeros<float>(130), zeros<float>(130), is_right ? 1 : 0, 130);
}

static void bytes_for_elements(bool is_right) {
  float* a = nullptr;
  cudaMalloc(&a, is_right ? 90 * sizeof(float) : 90);
  fill<<<2, 45>>>(a, 90);
}

__global__ void grey(unsigned char* out, const unsigned char* in, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int p = y * width + x;
  out[p] = (in[3 * p] + in[3 * p + 1] + in[3 * p + 2]) / 3;  // grey
}

static void width_and_height(bool is_right) {
  int width = 30, height = 20;
  unsigned char *out = zeros<unsigned char>(600), *in = zeros<unsigned char>(1800);
  grey<<<dim3(4, 4), dim3(8, 8)>>>(out, in, is_right ? width : height + 11, height);
}

static void stream_ordered(bool is_right) {
  float* a = nullptr;
  cudaMallocAsync(&a, (is_right ? 200 : 192) * sizeof(float), 0);
  fill<<<4, 50>>>(a, 200);
}

static void from_the_middle(bool is_right) {
  float* a = zeros<float>(120);
  fill<<<2, 50>>>(a + (is_right ? 20 : 40), 100);
}

__device__ int slots[20];
__global__ void into_slots(int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) slots[i] = i;  // into-slots
}

static void variable(bool is_right) { into_slots<<<3, 8>>>(is_right ? 20 : 22); }

struct Particle {
  float x, y, z;
  int cell;
};
__global__ void cells(Particle* particles, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    particles[i].cell = i % 7;  // cells
}

static void last_particle(bool is_right) {
  Particle* particles = nullptr;
  cudaMalloc(&particles, 50 * sizeof(Particle) - (is_right ? 0 : sizeof(int)));
  cells<<<2, 16>>>(particles, 50);
}

int main(int argc, char** argv) {
  static const SeededCase cases[] = {{"no-guard", no_guard},
                                     {"off-by-one", off_by_one},
                                     {"reads-one-more", reads_one_more},
                                     {"reads-one-less", reads_one_less},
                                     {"bytes-for-elements", bytes_for_elements},
                                     {"width-and-height", width_and_height},
                                     {"stream-ordered", stream_ordered},
                                     {"from-the-middle", from_the_middle},
                                     {"variable", variable},
                                     {"last-particle", last_particle}};
  return run_case(cases, argc, argv);
}
