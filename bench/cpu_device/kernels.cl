// The kernels of kernels.cu in OpenCL C, statement by statement.
#include "shapes.hpp"

kernel void stencil(global const float* in, global float* out, int width, int height) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (x >= width || y >= height) return;
  int at = y * width + x;
  float sum = in[at];
  if (x > 0) sum += in[at - 1];
  if (x < width - 1) sum += in[at + 1];
  if (y > 0) sum += in[at - width];
  if (y < height - 1) sum += in[at + width];
  out[at] = sum * 0.2f;
}

kernel void gemm(global const float* a, global const float* b, global float* c, int n) {
  local float rows[gemm_tile][gemm_tile];
  local float columns[gemm_tile][gemm_tile];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x = get_group_id(0) * gemm_tile + tx;
  int y = get_group_id(1) * gemm_tile + ty;
  float sum = 0;
  for (int k = 0; k < n; k += gemm_tile) {
    rows[ty][tx] = a[y * n + k + tx];
    columns[ty][tx] = b[(k + ty) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < gemm_tile; ++i)
      sum += rows[ty][i] * columns[i][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}

kernel void nbody(global const float4* bodies, global float4* forces, int count) {
  local float4 tile[nbody_block];
  int t = get_local_id(0);
  int self = get_group_id(0) * get_local_size(0) + t;
  float4 me = bodies[self];
  float fx = 0, fy = 0, fz = 0;
  for (int first = 0; first < count; first += nbody_block) {
    tile[t] = bodies[first + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < nbody_block; ++i) {
      float dx = tile[i].x - me.x;
      float dy = tile[i].y - me.y;
      float dz = tile[i].z - me.z;
      float near = rsqrt(dx * dx + dy * dy + dz * dz + nbody_softening);
      float weight = tile[i].w * near * near * near;
      fx += dx * weight;
      fy += dy * weight;
      fz += dz * weight;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  forces[self] = (float4)(fx, fy, fz, 0);
}

kernel void reduce(global const float* in, global float* out, int count) {
  local float pool[reduce_block];
  unsigned t = get_local_id(0);
  float sum = 0;
  int part = (count + (int)get_num_groups(0) - 1) / (int)get_num_groups(0);
  int begin = get_group_id(0) * part;
  int end = min(begin + part, count);
  for (int i = begin + t; i < end; i += get_local_size(0))
    sum += in[i];
  pool[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (unsigned half_ = reduce_block / 2; half_ > 0; half_ >>= 1) {
    if (t < half_) pool[t] += pool[t + half_];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = pool[0];
}

kernel void transpose(global const float* in, global float* out, int width, int height) {
  local float tile[transpose_tile][transpose_tile + 1];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x = get_group_id(0) * transpose_tile + tx;
  int y = get_group_id(1) * transpose_tile + ty;
  for (int row = 0; row < transpose_tile; row += transpose_rows)
    tile[ty + row][tx] = in[(y + row) * width + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * transpose_tile + tx;
  y = get_group_id(0) * transpose_tile + ty;
  for (int row = 0; row < transpose_tile; row += transpose_rows)
    out[(y + row) * height + x] = tile[tx][ty + row];
}
