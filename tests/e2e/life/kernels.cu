// Kernels of driver_life.
extern "C" {

__global__ void add_one(int* out, const int* in) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = in[i] + 1;
}

__global__ void trap_at(int* numbers, int last) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i == last) asm volatile("trap;");
  numbers[i] += 1;
}

// Runs until another launch sets *flag, and tells the host.
__global__ void wait_for_flag(volatile int* flag, volatile int* told) {
  while (*flag == 0) {
  }
  __threadfence_system();
  *told = 1;
}

__global__ void set_flag(volatile int* flag) {
  *flag = 1;
}
}
