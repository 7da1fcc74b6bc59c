// Steps of a stencil over two buffers of a kind of memory, with a memset in the middle, and a copy
// to another buffer of that kind at the end. Prints a checksum of what the host then finds.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

__global__ void smooth(float* out, const float* in, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x > 0 && x < n - 1) out[x] = (in[x - 1] + in[x + 1]) * .5f;
}

template <class Function>
static void call(const char* name, Function function, auto... given) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  cudaGetDriverEntryPointByVersion(name, &found, 13000, cudaEnableDefault, &status);
  const CUresult result = reinterpret_cast<Function>(found)(given...);
  if (result != CUDA_SUCCESS) std::printf("%s: error %d\n", name, result);
}

static void* map_virtual(size_t bytes) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t unit = 0;
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle memory = 0;
  const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  cudaFree(nullptr);
  call("cuMemGetAllocationGranularity", &cuMemGetAllocationGranularity, &unit, &properties,
       CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  bytes = (bytes + unit - 1) / unit * unit;
  call("cuMemAddressReserve", &cuMemAddressReserve, &address, bytes, size_t{0}, CUdeviceptr{0},
       0ull);
  call("cuMemCreate", &cuMemCreate, &memory, bytes, &properties, 0ull);
  call("cuMemMap", &cuMemMap, address, bytes, size_t{0}, memory, 0ull);
  call("cuMemSetAccess", &cuMemSetAccess, address, bytes, &access, size_t{1});
  return reinterpret_cast<void*>(address);
}

static float* allocate(const std::string& kind, size_t bytes) {
  void* memory = nullptr;
  if (kind == "managed") {
    cudaMallocManaged(&memory, bytes);
  } else if (kind == "pinned") {
    cudaMallocHost(&memory, bytes);
  } else if (kind == "mapped") {
    void* host = nullptr;
    cudaHostAlloc(&host, bytes, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&memory, host, 0);
  } else if (kind == "async") {
    cudaMallocAsync(&memory, bytes, nullptr);
  } else if (kind == "pool") {
    cudaMemPool_t pool = nullptr;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMallocFromPoolAsync(&memory, bytes, pool, nullptr);
  } else if (kind == "virtual") {
    memory = map_virtual(bytes);
  } else {
    cudaMalloc(&memory, bytes);
  }
  return static_cast<float*>(memory);
}

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "plain";
  constexpr int n = 1 << 16;
  constexpr size_t bytes = n * sizeof(float);
  float* buffers[3];
  std::vector<float> start(n);
  for (int i = 0; i < n; ++i)
    start[i] = static_cast<float>(i * 2654435761u >> 20);
  for (float*& buffer : buffers) {
    buffer = allocate(kind, bytes);
    cudaMemcpy(buffer, start.data(), bytes, cudaMemcpyDefault);
  }
  for (int t = 0; t < 50; ++t) {
    smooth<<<n / 256, 256>>>(buffers[1], buffers[0], n);
    std::swap(buffers[0], buffers[1]);
    if (t == 25) cudaMemsetAsync(buffers[0] + n / 2, 0, bytes / 4, nullptr);
  }
  cudaMemcpyAsync(buffers[2], buffers[0], bytes, cudaMemcpyDefault, nullptr);
  const cudaError_t error = cudaDeviceSynchronize();
  std::vector<float> end(n);
  const bool is_hosts = kind == "managed" || kind == "pinned" || kind == "mapped";
  if (is_hosts) {
    std::memcpy(end.data(), buffers[2], bytes);
  } else {
    cudaMemcpy(end.data(), buffers[2], bytes, cudaMemcpyDeviceToHost);
  }
  uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : end) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3u;
  }
  std::printf("%s checksum=%016llx\n", cudaGetErrorString(error),
              static_cast<unsigned long long>(hash));
  return error != cudaSuccess;
}
