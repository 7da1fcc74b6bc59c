// Opens the libraries that are its arguments, calls each, closes it and opens it again. Has a static
// runtime too, whose streams and memory are the libraries' as well.
#include <cstdio>

#include <dlfcn.h>

__global__ void fill(int* values, int value) {
  values[threadIdx.x] = value;
}

static bool call(const char* path, void* stream) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return false;
  }
  auto* const add = reinterpret_cast<int (*)(void*)>(dlsym(library, "add_once_more"));
  std::printf("%d\n", add(stream));
  dlclose(library);
  return true;
}

int main(int count, char** paths) {
  int* values = nullptr;
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaMalloc(&values, 4 * sizeof(int));
  fill<<<1, 4, 0, stream>>>(values, 7);
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i < count; ++i) {
      if (!call(paths[i], stream)) return 1;
    }
  }
  int host[4] = {};
  const cudaError_t error = cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%s %d\n", cudaGetErrorString(error), host[3]);
  return error == cudaSuccess && host[3] == 7 ? 0 : 1;
}
