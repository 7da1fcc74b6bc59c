// Prints how much processor time, in microseconds, a process takes that has used the device and then
// waits: with nothing to do, and for a stream and for an event behind a function that sleeps.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

__global__ void count_up(int *numbers) { numbers[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

static long processor_time() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return 1000000L * (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + usage.ru_utime.tv_usec +
         usage.ru_stime.tv_usec;
}

static void sleep_a_second(void *) { sleep(1); }

int main() {
  int *numbers = nullptr;
  if (cudaMalloc(&numbers, 1 << 20) != cudaSuccess) return 1;
  cudaMemset(numbers, 0, 1 << 20);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaEvent_t event;
  cudaEventCreate(&event);
  for (int i = 0; i < 10; ++i)
    count_up<<<1024, 256, 0, stream>>>(numbers);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;

  long before = processor_time();
  sleep(1);
  std::printf("idle %ld\n", processor_time() - before);

  before = processor_time();
  cudaLaunchHostFunc(stream, sleep_a_second, nullptr);
  count_up<<<1, 256, 0, stream>>>(numbers);
  if (cudaStreamSynchronize(stream) != cudaSuccess) return 1;
  std::printf("stream %ld\n", processor_time() - before);

  before = processor_time();
  cudaLaunchHostFunc(stream, sleep_a_second, nullptr);
  cudaEventRecord(event, stream);
  if (cudaEventSynchronize(event) != cudaSuccess) return 1;
  std::printf("event %ld\n", processor_time() - before);
  return 0;
}
