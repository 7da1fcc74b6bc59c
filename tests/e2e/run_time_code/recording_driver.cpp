// A driver in the place of NVIDIA's for one program, makes_code: takes any image, runs nothing, and
// writes into the file that RECORD names what it got: "image" with whether that is the file that
// CODE names, byte for byte, and "launch" with the grid and block.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda.h>

namespace {

template <class... Values>
void record(const char* format, Values... values) {
  if (std::FILE* log = std::fopen(std::getenv("RECORD"), "a")) {
    std::fprintf(log, format, values...);
    std::fclose(log);
  }
}

std::vector<char> bytes_of_code() {
  std::vector<char> bytes;
  if (std::FILE* file = std::fopen(std::getenv("CODE"), "rb")) {
    for (int next = std::fgetc(file); next != EOF; next = std::fgetc(file))
      bytes.push_back(static_cast<char>(next));
    std::fclose(file);
  }
  return bytes;
}

char memory[1 << 16];
char handles[3];
bool is_current = false;

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 8 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(&handles[0]);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  is_current = context != nullptr;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = is_current ? reinterpret_cast<CUcontext>(&handles[0]) : nullptr;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  const std::vector<char> code = bytes_of_code();
  const bool is_same = !code.empty() && std::memcmp(image, code.data(), code.size()) == 0;
  record("image %s\n", is_same ? "the same" : "another");
  *module = reinterpret_cast<CUmodule>(&handles[1]);
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) {
  *function = reinterpret_cast<CUfunction>(&handles[2]);
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t) {
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction, unsigned grid, unsigned, unsigned, unsigned block, unsigned,
                        unsigned, unsigned, CUstream, void**, void**) {
  record("launch %u %u\n", grid, block);
  return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream) {
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH_v2(void* host, CUdeviceptr, size_t bytes) {
  std::memset(host, 0, bytes);
  return CUDA_SUCCESS;
}
CUresult cuGetExportTable(const void**, const CUuuid*) {
  return CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
