// A kernel that writes beyond its buffer, and what the program sees of it. The first argument says
// of what memory: "device", "managed", "pinned", "pool", "variable" or "freed", which is written to
// after it was freed; the second how many floats are written to a buffer of 100. Prints what the
// launch gave, then what became of the program's other memory.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

constexpr int in_buffer = 100;

__device__ float variable[in_buffer];

__global__ void write_numbers(float *buffer, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) buffer[i] = i;
}

static float *buffer_of(const std::string &kind) {
  void *buffer = nullptr;
  constexpr size_t bytes = in_buffer * sizeof(float);
  if (kind == "managed") cudaMallocManaged(&buffer, bytes);
  if (kind == "pinned") cudaMallocHost(&buffer, bytes);
  if (kind == "pool") cudaMallocAsync(&buffer, bytes, nullptr);
  if (kind == "variable") cudaGetSymbolAddress(&buffer, variable);
  if (kind == "device" || kind == "freed") cudaMalloc(&buffer, bytes);
  if (kind == "freed") cudaFree(buffer);
  return static_cast<float *>(buffer);
}

int main(int, char **arguments) {
  const int count = std::atoi(arguments[2]);
  std::vector<std::string> texts;  // the program's own memory, before and behind
  for (int i = 0; i < 1000; ++i) texts.push_back(std::string(100 + i % 50, 'a'));
  float *buffer = buffer_of(arguments[1]);
  for (int i = 0; i < 1000; ++i) texts.push_back(std::string(300 + i % 50, 'b'));

  write_numbers<<<(count + 255) / 256, 256>>>(buffer, count);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  if (error != cudaSuccess) return 0;

  float written[in_buffer];
  cudaMemcpy(written, buffer, sizeof written, cudaMemcpyDefault);
  int wrong = 0;
  if (std::string(arguments[1]) != "freed") {
    for (int i = 0; i < in_buffer; ++i) wrong += written[i] != i;
  }
  for (const std::string &text : texts) wrong += text.find_first_not_of(text[0]) != text.npos;
  std::vector<void *> more(200);
  for (void *&each : more) wrong += cudaMalloc(&each, 5000) != cudaSuccess;
  for (void *each : more) wrong += cudaFree(each) != cudaSuccess;
  std::printf("%d wrong\n", wrong);
  return 0;
}
