// A GPU's driver in the place of NVIDIA's: the CPU device, whose library STAND_IN_BELOW names, with
// a GPU's limits (99 KiB of shared memory for a block; kernels named "heavy" have registers for 512
// threads), without the private table by which Sluice knows the CPU device.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda.h>
#include <dlfcn.h>

#include "e2e/device_answers/stand_in_gpu/functions.hpp"

namespace {

constexpr unsigned shared_bytes_of_a_block = 99 << 10;
constexpr unsigned threads_of_a_heavy_block = 512;

template <class Call>
Call* below(Call* /*type*/, const char* name) {
  for (Function* one = __start_stand_in_functions; one != __stop_stand_in_functions; ++one) {
    if (std::strcmp(one->name, name) == 0) return reinterpret_cast<Call*>(one->below);
  }
  std::abort();
}

// dlmopen(), since the shim leads dlopen() of any driver to itself.
__attribute__((constructor)) void find_functions() {
  const char* path = std::getenv("STAND_IN_BELOW");
  void* library = path == nullptr ? nullptr : dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "stand-in GPU: %s\n", path == nullptr ? "nothing below" : dlerror());
    std::abort();
  }
  for (Function* one = __start_stand_in_functions; one != __stop_stand_in_functions; ++one)
    one->below = dlsym(library, one->name);
}

bool is_heavy(CUfunction function) {
  const char* name = nullptr;
  return below(&cuFuncGetName, "cuFuncGetName")(&name, function) == CUDA_SUCCESS &&
         std::strstr(name, "heavy") != nullptr;
}

CUresult judged(CUfunction function, uint64_t threads, unsigned dynamic_bytes) {
  int fixed_bytes = 0;
  below(&cuFuncGetAttribute, "cuFuncGetAttribute")(&fixed_bytes,
                                                   CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
  if (static_cast<unsigned>(fixed_bytes) + uint64_t{dynamic_bytes} > shared_bytes_of_a_block)
    return CUDA_ERROR_INVALID_VALUE;
  return is_heavy(function) && threads > threads_of_a_heavy_block
             ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
             : CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuGetExportTable(const void**, const CUuuid*) {
  return CUDA_ERROR_NOT_FOUND;
}

// What the CPU device finds are its own functions.
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  const CUresult result =
      below(&cuGetProcAddress, "cuGetProcAddress_v2")(symbol, function, version, flags, status);
  if (result != CUDA_SUCCESS) return result;
  Dl_info own;
  dladdr(reinterpret_cast<void*>(&find_functions), &own);
  void* const self = dlmopen(LM_ID_BASE, own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  for (Function* one = __start_stand_in_functions; one != __stop_stand_in_functions; ++one) {
    if (one->below != *function) continue;
    *function = dlsym(self, one->name);
    break;
  }
  return result;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  const CUresult result =
      below(&cuDeviceGetAttribute, "cuDeviceGetAttribute")(value, attribute, device);
  if (result == CUDA_SUCCESS && attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
    *value = shared_bytes_of_a_block;
  return result;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value > 0 &&
      judged(function, 1, static_cast<unsigned>(value)) != CUDA_SUCCESS) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return below(&cuFuncSetAttribute, "cuFuncSetAttribute")(function, attribute, value);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice /*device*/) {
  return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attribute, value);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  const CUresult verdict = judged(function, uint64_t{block_x} * block_y * block_z, shared_bytes);
  if (verdict != CUDA_SUCCESS) return verdict;
  return below(&cuLaunchKernel, "cuLaunchKernel")(function, grid_x, grid_y, grid_z, block_x,
                                                  block_y, block_z, shared_bytes, stream,
                                                  parameters, extra);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* on,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* given) {
  const CUresult verdict = judged(
      given->func != nullptr ? given->func : reinterpret_cast<CUfunction>(given->kern),
      uint64_t{given->blockDimX} * given->blockDimY * given->blockDimZ, given->sharedMemBytes);
  if (verdict != CUDA_SUCCESS) return verdict;
  return below(&cuGraphAddKernelNode, "cuGraphAddKernelNode_v2")(node, graph, on, count, given);
}

}  // extern "C"
