// Calls: by name, through a pointer, recursive, with a structure as a result.
struct Result {
  int value;
  float weights[3];
};
typedef int (*Operation)(int, int);

__device__ __noinline__ int sum(int a, int b) { return a + b; }
__device__ __noinline__ int product(int a, int b) { return a * b; }
__device__ __noinline__ Result pack(int a) { return {a, {1.0f * a, 2.0f * a, 3.0f * a}}; }
__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ void fail() { __trap(); }
__device__ Operation operations[2] = {sum, product};

extern "C" __global__ void device_calls(int* out, int which) {
  int i = threadIdx.x;
  if (which > 7) fail();
  Result result = pack(i);
  out[i] = operations[which & 1](i, 3) + int(result.weights[i % 3]) + factorial(i & 7) + sum(i, i);
}
