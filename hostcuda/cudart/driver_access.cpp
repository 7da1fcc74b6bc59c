// Versions, and the driver's own functions by name.
#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

namespace {

cudaError_t entry_point(const char* symbol, void** function, unsigned version,
                        unsigned long long flags, cudaDriverEntryPointQueryResult* status,
                        bool stream_per_thread) {
  return with_driver([&] {
    if (flags == cudaEnableDefault) {
      flags = stream_per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    }
    CUdriverProcAddressQueryResult driver_status = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result =
        cuGetProcAddress(symbol, function, static_cast<int>(version), flags, &driver_status);
    if (status != nullptr) {
      // A caller that asks for the status learns of a missing symbol from it alone.
      *status = static_cast<cudaDriverEntryPointQueryResult>(driver_status);
      if (result == CUDA_ERROR_NOT_FOUND) result = CUDA_SUCCESS;
    }
    return result;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return record(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

// 0 where there is no driver, which is no error.
cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return record(cudaErrorInvalidValue);
  if (cuDriverGetVersion(version) != CUDA_SUCCESS) *version = 0;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, CUDART_VERSION, flags, status, false);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                         unsigned long long flags,
                                         cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, CUDART_VERSION, flags, status, true);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, version, flags, status, false);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function,
                                                  unsigned version, unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, version, flags, status, true);
}

// The tables behind this function are private to NVIDIA's libraries; there are none here.
cudaError_t cudaGetExportTable(const void** table, const cudaUUID_t*) {
  if (table != nullptr) *table = nullptr;
  return record(cudaErrorSymbolNotFound);
}

}  // extern "C"
