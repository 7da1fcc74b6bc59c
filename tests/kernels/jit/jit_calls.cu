// Calls of the device library and through pointers, and barriers for a part of the block.
#include <cassert>
#include <cstdio>
#include <cstdlib>

using Operation = int (*)(int, int);

__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Operation operations[2] = {plus, times};

extern "C" __global__ void call_through_table(const int* chosen, int* result) {
  int i = threadIdx.x;
  result[i] = operations[chosen[i]](i, 3);
}

extern "C" __global__ void take_pointer(unsigned long long* pointer) {
  *pointer = reinterpret_cast<unsigned long long>(&times);
}

extern "C" __global__ void call_pointer(unsigned long long pointer, int* result) {
  *result = reinterpret_cast<Operation>(pointer)(6, 7);
}

struct Shape {
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  __device__ Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Bar : Shape {
  int length;
  __device__ Bar(int l) : length(l) {}
  __device__ int area() const override { return length; }
};

extern "C" __global__ void virtual_calls(const int* kind, int* result) {
  int i = threadIdx.x;
  Square square(i);
  Bar bar(i);
  const Shape* shape = kind[i] != 0 ? static_cast<const Shape*>(&square) : &bar;
  result[i] = shape->area();
}

extern "C" __global__ void print(int a, double b, long long c) {
  printf("%d|%5.2f|%lld|%s|%c|%%|%08x|%-4d|\n", a, b, c, "text", 'z', 0xbeef, a);
}

extern "C" __global__ void check(const int* values, int* reached) {
  assert(values[threadIdx.x] > 0);
  reached[threadIdx.x] = 1;
}

extern "C" __global__ void trap_one(int which) {
  if (threadIdx.x == which) __trap();
}

extern "C" __global__ void heap(int* sums) {
  int n = threadIdx.x + 1;
  int* block = static_cast<int*>(malloc(n * sizeof(int)));
  if (block == nullptr) return;
  for (int i = 0; i < n; ++i) block[i] = i + n;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += block[i];
  sums[threadIdx.x] = sum;
  free(block);
}

extern "C" __global__ void clocks(unsigned long long* times) {
  unsigned long long before, after;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
  __nanosleep(100);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
  times[0] = before;
  times[1] = after;
}

// The first warp makes, the second takes, over two numbered barriers of 64 threads.
extern "C" __global__ void produce_consume(const int* in, int* out, int rounds) {
  __shared__ int slot[32];
  int lane = threadIdx.x % 32;
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x < 32) {
      if (r > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      slot[lane] = in[r * 32 + lane] * 2;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[r * 32 + lane] = slot[31 - lane];
      if (r + 1 < rounds) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}

// Each half of the block reduces at a barrier of its own.
extern "C" __global__ void reduce_halves(const int* in, int* out) {
  int half = threadIdx.x / 64;
  int count;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; barrier.red.popc.u32 %0, %2, 64, p; }"
               : "=r"(count) : "r"(in[threadIdx.x]), "r"(half + 3) : "memory");
  out[threadIdx.x] = count;
}
