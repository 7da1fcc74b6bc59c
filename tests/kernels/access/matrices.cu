// Memory accesses of a warp together: fragments of matrices, rows for ldmatrix, asynchronous copies.
#include <mma.h>

using namespace nvcuda;

// One 16 x 16 tile of a product for each block of one warp; rows of 32 elements.
extern "C" __global__ void wmma_tile(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < 32; k += 16) {
    wmma::load_matrix_sync(left, a + blockIdx.y * 16 * 32 + k, 32);
    wmma::load_matrix_sync(right, b + blockIdx.x * 16 * 32 + k, 32);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * 32 + blockIdx.x * 16, sum, 32, wmma::mem_row_major);
}

// 16 bytes a thread through shared memory.
extern "C" __global__ void async_copy(const float4* in, float4* out) {
  __shared__ float4 stage[32];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&stage[threadIdx.x]));
  const float4* from = in + blockIdx.x * 32 + threadIdx.x;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = stage[31 - threadIdx.x];
}

// Threads beyond the end copy nothing and fill with zeros.
extern "C" __global__ void async_copy_some(const float4* in, float4* out, int n) {
  __shared__ float4 stage[32];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&stage[threadIdx.x]));
  const int i = blockIdx.x * 32 + threadIdx.x;
  const int bytes = i < n ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(in + i), "r"(bytes));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[i] = stage[threadIdx.x];
}

// Eight rows of eight halves, transposed on the way through shared memory and registers.
extern "C" __global__ void matrix_rows(const uint4* in, unsigned* out) {
  __shared__ uint4 rows[8];
  if (threadIdx.x < 8) rows[threadIdx.x] = in[blockIdx.x * 8 + threadIdx.x];
  __syncthreads();
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(&rows[threadIdx.x % 8]));
  unsigned part = 0, turned = 0;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(part) : "r"(from));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(part));
  out[blockIdx.x * 32 + threadIdx.x] = turned;
}

// A barrier in shared memory between the threads' loads and stores.
extern "C" __global__ void memory_barrier(const int* in, int* out) {
  __shared__ unsigned long long barrier;
  __shared__ int stage[32];
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(32));
  __syncthreads();
  stage[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
  int over = 0;
  while (over == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(at), "l"(state)
        : "memory");
  }
  out[blockIdx.x * 32 + threadIdx.x] = stage[31 - threadIdx.x];
}
