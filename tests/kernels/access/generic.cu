// Accesses whose state space only the address knows, and accesses under a predicate.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void generic_copy(const float* in, float* out, int n) {
  if (X >= n) return;
  float value;
  asm volatile("ld.f32 %0, [%1];" : "=f"(value) : "l"(in + X));
  asm volatile("st.f32 [%0], %1;" ::"l"(out + X), "f"(value) : "memory");
}

extern "C" __global__ void generic_atomic(int* out, int n) {
  if (X < n) asm volatile("{ .reg .u32 t; atom.add.u32 t, [%0], 1; }" ::"l"(out + X) : "memory");
}

// Even threads read shared memory, odd ones global memory, by the same instruction.
extern "C" __global__ void generic_either(const float* in, float* out, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  if (X >= n) return;
  const float* from = threadIdx.x & 1 ? in + X : &tile[threadIdx.x];
  float value;
  asm volatile("ld.f32 %0, [%1];" : "=f"(value) : "l"(from));
  out[X] = value;
}

extern "C" __global__ void predicated_copy(const float* in, float* out, int n) {
  asm volatile(
      "{ .reg .pred p; .reg .f32 v; setp.lt.s32 p, %2, %3; mov.f32 v, 0f00000000;"
      "  @p ld.global.f32 v, [%0]; @p st.global.f32 [%1], v; }" ::"l"(in + X),
      "l"(out + X), "r"(X), "r"(n)
      : "memory");
}

extern "C" __global__ void predicated_by_data(const int* flag, float* out, int n) {
  if (X >= n) return;
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; @p st.global.f32 [%0], 0f3F800000; }" ::"l"(
                   out + X),
               "r"(flag[X])
               : "memory");
}

// The negated predicate guards the store.
extern "C" __global__ void predicated_not(float* out, int n) {
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %1, %2; @!p st.global.f32 [%0], 0f3F800000; }" ::"l"(
                   out + X),
               "r"(X), "r"(n)
               : "memory");
}

extern "C" __global__ void volatile_copy(const volatile float* in, volatile float* out, int n) {
  if (X < n) out[X] = in[X];
}

extern "C" __global__ void read_only_copy(const float* __restrict__ in, float* __restrict__ out,
                                          int n) {
  if (X < n) out[X] = __ldg(&in[X]) + __ldcs(&in[X + 1]);
}
