// Kernels with known effects: what each stores is a function of all that it reads, so that a launch
// which ran too early or too late leaves other bytes. All take (out, in, n, salt); the words that
// each may read and write stand in kernels.def.
#include <cstdint>

namespace {

__device__ uint32_t mix(uint32_t a, uint32_t b) {
  a ^= b + 0x9e3779b9U + (a << 6) + (a >> 2);
  a *= 0x85ebca6bU;
  return a ^ (a >> 13);
}

__device__ uint32_t index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

}  // namespace

__device__ uint32_t variable[512];

extern "C" {

__global__ void map(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i < n) out[i] = mix(in[i], salt + i);
}

__global__ void update(uint32_t* out, const uint32_t*, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i < n) out[i] = mix(out[i], salt);
}

__global__ void accumulate(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i < n) out[i] = mix(out[i], in[i] ^ salt);
}

__global__ void stencil(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i >= n) return;
  uint32_t value = mix(in[i], salt);
  if (i > 0) value = mix(value, in[i - 1]);
  if (i + 1 < n) value = mix(value, in[i + 1]);
  out[i] = value;
}

__global__ void mirror(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i < n) out[n - 1 - i] = mix(in[i], salt);
}

__global__ void every_third(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = 3 * index();
  if (i < n) out[i] = mix(in[i], salt);
}

__global__ void transposed(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = index(), rows = n / 16;
  if (i < rows * 16) out[i % 16 * rows + i / 16] = mix(in[i], salt);
}

__global__ void where_odd(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i < n && (in[i] & 1) != 0) out[i] = mix(in[i], salt);
}

__global__ void gather(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i < n) out[i] = mix(in[in[i] % n], salt);
}

__global__ void scatter(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i < n) atomicAdd(&out[in[i] % n], in[i] + salt);
}

__global__ void swapped_in_block(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  __shared__ uint32_t held[64];
  const uint32_t i = index();
  held[threadIdx.x] = i < n ? in[i] : salt;
  __syncthreads();
  if (i < n) out[i] = mix(held[blockDim.x - 1 - threadIdx.x], salt);
}

__global__ void sum_of_all(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  __shared__ uint32_t parts[64];
  uint32_t sum = 0;
  for (uint32_t k = threadIdx.x; k < n; k += blockDim.x)
    sum += in[k];
  parts[threadIdx.x] = sum;
  __syncthreads();
  uint32_t total = salt;
  for (uint32_t k = 0; k < blockDim.x; ++k)
    total += parts[k];
  const uint32_t i = index();
  if (i < n) out[i] = mix(total, i);
}

__global__ void into_variable(uint32_t*, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i < n) variable[i] = mix(variable[i], in[i] + salt);
}

__global__ void from_variable(uint32_t* out, const uint32_t*, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i < n) out[i] = mix(variable[n - 1 - i], salt);
}

// Long enough that the host gets ahead.
__global__ void slow(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t salt) {
  const uint32_t i = index();
  if (i >= n) return;
  uint32_t value = in[i];
  for (uint32_t k = 0; k < 1000; ++k)
    value = mix(value, salt + k);
  out[i] = value;
}

// The host polls out[0] in memory that both see.
__global__ void raise_flag(uint32_t* out, const uint32_t*, uint32_t, uint32_t salt) {
  __threadfence_system();
  if (index() == 0) *static_cast<volatile uint32_t*>(out) = salt;
}
}
