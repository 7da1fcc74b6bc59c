// Blocks that scan, sort and reduce by CUB, and products of matrices by tensor cores and without
// them. All take what they read, what they write and a count.
#include <cstdint>

#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "sizes.hpp"

constexpr int block_threads = segment_length / segment_items;

// Each block its segment of the numbers.
extern "C" __global__ void scan_segments(const float* in, float* out, int) {
  using Load = cub::BlockLoad<float, block_threads, segment_items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<float, block_threads, segment_items, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<float, block_threads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } shared;
  const size_t begin = size_t{blockIdx.x} * segment_length;
  float items[segment_items];
  Load(shared.load).Load(in + begin, items);
  __syncthreads();
  Scan(shared.scan).InclusiveSum(items, items);
  __syncthreads();
  Store(shared.store).Store(out + begin, items);
}

extern "C" __global__ void sort_segments(const float* in, float* out, int) {
  using Sort = cub::BlockRadixSort<float, block_threads, segment_items>;
  __shared__ typename Sort::TempStorage shared;
  const size_t begin = size_t{blockIdx.x} * segment_length;
  float items[segment_items];
  for (int i = 0; i < segment_items; ++i)
    items[i] = in[begin + threadIdx.x * segment_items + i];
  Sort(shared).Sort(items);
  for (int i = 0; i < segment_items; ++i)
    out[begin + threadIdx.x * segment_items + i] = items[i];
}

extern "C" __global__ void reduce_all(const float* in, float* out, int count) {
  using Reduce = cub::BlockReduce<float, block_threads>;
  __shared__ typename Reduce::TempStorage shared;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += in[i];
  sum = Reduce(shared).Sum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

// Squares of `count` rows, in tiles of 32 in shared memory.
extern "C" __global__ void product_tiles(const float* in, float* out, int count) {
  __shared__ float a[32][32], b[32][32];
  const float* right = in + size_t(count) * count;
  int x = threadIdx.x, row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + x;
  float sums[4] = {};
  for (int k = 0; k < count; k += 32) {
    for (int i = 0; i < 4; ++i) {
      a[threadIdx.y + 8 * i][x] = in[(row + 8 * i) * count + k + x];
      b[threadIdx.y + 8 * i][x] = right[(k + threadIdx.y + 8 * i) * count + column];
    }
    __syncthreads();
    for (int j = 0; j < 32; ++j)
      for (int i = 0; i < 4; ++i)
        sums[i] += a[threadIdx.y + 8 * i][j] * b[j][x];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    out[(row + 8 * i) * count + column] = sums[i];
}

// The same by fragments: a warp has a tile of 32 × 32 of the product, of 16 × 16 each.
template <typename Number>
__device__ void product_by_fragments(const Number* left, float* out, int count) {
  namespace wmma = nvcuda::wmma;
  const Number* right = left + size_t(count) * count;
  int warp = threadIdx.x / 32;
  int row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
  for (auto& line : sums)
    for (auto& sum : line)
      wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < count; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, Number, wmma::row_major> a[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, Number, wmma::row_major> b[2];
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(a[i], left + (row + 16 * i) * count + k, count);
      wmma::load_matrix_sync(b[i], right + k * count + column + 16 * i, count);
    }
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(out + (row + 16 * i) * count + column + 16 * j, sums[i][j], count,
                              wmma::mem_row_major);
}

extern "C" __global__ void product_f16(const __half* in, float* out, int count) {
  product_by_fragments(in, out, count);
}
extern "C" __global__ void product_bf16(const __nv_bfloat16* in, float* out, int count) {
  product_by_fragments(in, out, count);
}
