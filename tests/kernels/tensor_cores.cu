// Matrices that a warp multiplies: through wmma in each type, and by mma with ldmatrix.
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

template <class A, class B, class C, int M, int N, int K, class In, class Out>
__device__ void multiply(const In* a, const In* b, Out* c) {
  wmma::fragment<wmma::matrix_a, M, N, K, A, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, M, N, K, B, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, M, N, K, C> sum;
  wmma::load_matrix_sync(left, a, K);
  wmma::load_matrix_sync(right, b, K);
  wmma::load_matrix_sync(sum, c, N, wmma::mem_row_major);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
}

extern "C" __global__ void wmma_half(const half* a, const half* b, float* c) {
  multiply<half, half, float, 16, 16, 16>(a, b, c);
}
extern "C" __global__ void wmma_half_narrow(const half* a, const half* b, half* c) {
  multiply<half, half, half, 32, 8, 16>(a, b, c);
}
extern "C" __global__ void wmma_bfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  multiply<__nv_bfloat16, __nv_bfloat16, float, 8, 32, 16>(a, b, c);
}
extern "C" __global__ void wmma_tf32(const float* a, const float* b, float* c) {
  multiply<wmma::precision::tf32, wmma::precision::tf32, float, 16, 16, 8>(a, b, c);
}
extern "C" __global__ void wmma_double(const double* a, const double* b, double* c) {
  multiply<double, double, double, 8, 8, 4>(a, b, c);
}
extern "C" __global__ void wmma_bytes(const signed char* a, const signed char* b, int* c) {
  multiply<signed char, signed char, int, 16, 16, 16>(a, b, c);
}
extern "C" __global__ void wmma_unsigned_bytes(const unsigned char* a, const unsigned char* b,
                                               int* c) {
  multiply<unsigned char, unsigned char, int, 32, 8, 16>(a, b, c);
}
extern "C" __global__ void wmma_nibbles(const int* a, const int* b, int* c) {
  multiply<wmma::experimental::precision::s4, wmma::experimental::precision::s4, int, 8, 8, 32>(
      a, b, c);
}

// One 16 x 8 product of 16-bit floats, its operands brought to shared memory asynchronously.
extern "C" __global__ void mma_pipeline(const uint4* a, const uint4* b, float* c) {
  __shared__ uint4 left[32];
  __shared__ uint4 right[16];
  const unsigned lane = threadIdx.x;
  __pipeline_memcpy_async(&left[lane], &a[lane], 16);
  if (lane < 16) __pipeline_memcpy_async(&right[lane], &b[lane], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  // Rows of A are two 16-byte words; the four matrices are its quarters, down the rows first.
  const unsigned row = lane % 16, half_of_row = lane / 16;
  const unsigned a_address =
      static_cast<unsigned>(__cvta_generic_to_shared(&left[row * 2 + half_of_row]));
  // Rows of B lie along n, so they are turned.
  const unsigned b_address = static_cast<unsigned>(__cvta_generic_to_shared(&right[lane % 16]));
  unsigned x[4], y[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(a_address));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(y[0]), "=r"(y[1])
               : "r"(b_address));
  float d[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  const unsigned g = lane / 4, t = lane % 4;
  c[g * 8 + 2 * t] = d[0];
  c[g * 8 + 2 * t + 1] = d[1];
  c[(g + 8) * 8 + 2 * t] = d[2];
  c[(g + 8) * 8 + 2 * t + 1] = d[3];
}
