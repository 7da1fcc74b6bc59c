#include "hostcuda/cudart/fake_driver.hpp"

#include <algorithm>

namespace sluice::test {
namespace {

template <class Handle>
Handle handle(size_t value) {
  return reinterpret_cast<Handle>(value);
}

thread_local CUcontext current = nullptr;

CUresult record(const char* name, CUresult result = CUDA_SUCCESS) {
  fake_driver().calls.emplace_back(name);
  return result;
}

}  // namespace

int FakeDriver::count(const std::string& call) const {
  return static_cast<int>(std::count(calls.begin(), calls.end(), call));
}

FakeDriver& fake_driver() {
  static FakeDriver driver;
  return driver;
}

}  // namespace sluice::test

using namespace sluice::test;

extern "C" {

CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  *count = 2;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z ? 64 : 1024;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = handle<CUcontext>(0x1000u + static_cast<unsigned>(device));
  return record("cuDevicePrimaryCtxRetain");
}

CUresult cuDevicePrimaryCtxReset(CUdevice) {
  return record("cuDevicePrimaryCtxReset");
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  *device = static_cast<CUdevice>(reinterpret_cast<size_t>(current) & 1u);
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  return record("cuCtxSynchronize", fake_driver().synchronize_result);
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  fake_driver().images.push_back(code);
  *library = handle<CUlibrary>(0x2000);
  return record("cuLibraryLoadData", fake_driver().library_result);
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary, const char* name) {
  if (std::string(name) == "absent") return record("cuLibraryGetKernel", CUDA_ERROR_NOT_FOUND);
  *kernel = handle<CUkernel>(0x3000);
  return record("cuLibraryGetKernel");
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* size, CUlibrary, const char*) {
  *address = 0x4000;
  *size = fake_driver().variable_size;
  return record("cuLibraryGetGlobal");
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** arguments, void**) {
  fake_driver().launches.push_back({function,
                                    {grid_x, grid_y, grid_z},
                                    {block_x, block_y, block_z},
                                    shared_bytes,
                                    stream,
                                    arguments});
  return record("cuLaunchKernel", fake_driver().launch_result);
}

CUresult cuMemAlloc(CUdeviceptr* address, size_t) {
  *address = 0x5000;
  return record("cuMemAlloc");
}

CUresult cuMemFree(CUdeviceptr) {
  return record("cuMemFree");
}

CUresult cuMemcpyHtoD(CUdeviceptr, const void*, size_t) {
  return record("cuMemcpyHtoD");
}
CUresult cuMemcpyDtoH(void*, CUdeviceptr, size_t) {
  return record("cuMemcpyDtoH");
}
CUresult cuMemcpyDtoD(CUdeviceptr, CUdeviceptr, size_t) {
  return record("cuMemcpyDtoD");
}
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, size_t) {
  return record("cuMemcpy");
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr, const void*, size_t, CUstream stream) {
  return record(stream == CU_STREAM_PER_THREAD ? "cuMemcpyHtoDAsync per thread"
                                               : "cuMemcpyHtoDAsync");
}

CUresult cuStreamSynchronize(CUstream stream) {
  return record(stream == CU_STREAM_PER_THREAD ? "cuStreamSynchronize per thread"
                                               : "cuStreamSynchronize");
}

}  // extern "C"
