// Programs with one fault each, and what they should have been: `seeded CASE wrong|right`.
#pragma once

#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

struct SeededCase {
  const char* name;
  void (*run)(bool is_right);
};

inline int blocks_for(int count, int block) {
  return (count + block - 1) / block;
}

template <class Value>
Value* device_array(size_t count) {
  Value* array = nullptr;
  cudaMalloc(&array, count * sizeof(Value));
  return array;
}

template <class Value>
Value* zeros(size_t count) {
  Value* array = device_array<Value>(count);
  cudaMemset(array, 0, count * sizeof(Value));
  return array;
}

template <size_t count>
int run_case(const SeededCase (&cases)[count], int argc, char** argv) {
  for (const SeededCase& one : cases) {
    if (argc != 3 || std::strcmp(argv[1], one.name) != 0) continue;
    one.run(std::strcmp(argv[2], "right") == 0);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
  }
  std::printf("no such case\n");
  return 2;
}
