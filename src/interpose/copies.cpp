// Copies and memsets: they close the windows, go to the driver as they are, and tell the runtime
// which bytes of device memory they overwrite.
#include "interpose/shim.hpp"
#include "interpose/wrappers.hpp"

using namespace sluice::interpose;

namespace {

template <class Call>
CUresult observed_write(CUdeviceptr address, size_t bytes, Call&& call) {
  const ErrnoGuard guard;
  sluice::runtime::Runtime* runtime = flushed_runtime();
  const CUresult result = call(Shim::get().calls());
  if (result == CUDA_SUCCESS && runtime != nullptr && bytes > 0) {
    runtime->memory_written(address, bytes);
  }
  return result;
}

}  // namespace

// SLUICE_WRITER(symbol, (parameters), (arguments), first address written, bytes written)
#define SLUICE_WRITER(symbol, parameters, arguments, address, bytes)                           \
  extern "C" CUresult sluice_wrap_##symbol parameters {                                        \
    return observed_write(address, bytes,                                                      \
                          [&](const DriverCalls& driver) { return driver.symbol arguments; }); \
  }

SLUICE_WRITER(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to, n)
SLUICE_WRITER(cuMemcpy_ptds, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to, n)
SLUICE_WRITER(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
              (to, from, n, s), to, n)
SLUICE_WRITER(cuMemcpyAsync_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
              (to, from, n, s), to, n)
SLUICE_WRITER(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, size_t n), (to, from, n), to, n)
SLUICE_WRITER(cuMemcpyHtoD_v2_ptds, (CUdeviceptr to, const void* from, size_t n), (to, from, n), to,
              n)
SLUICE_WRITER(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t n, CUstream s),
              (to, from, n, s), to, n)
SLUICE_WRITER(cuMemcpyHtoDAsync_v2_ptsz, (CUdeviceptr to, const void* from, size_t n, CUstream s),
              (to, from, n, s), to, n)
SLUICE_WRITER(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to, n)
SLUICE_WRITER(cuMemcpyDtoD_v2_ptds, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to,
              n)
SLUICE_WRITER(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
              (to, from, n, s), to, n)
SLUICE_WRITER(cuMemcpyDtoDAsync_v2_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
              (to, from, n, s), to, n)
SLUICE_WRITER(cuMemsetD8_v2, (CUdeviceptr to, unsigned char v, size_t n), (to, v, n), to, n)
SLUICE_WRITER(cuMemsetD8_v2_ptds, (CUdeviceptr to, unsigned char v, size_t n), (to, v, n), to, n)
SLUICE_WRITER(cuMemsetD8Async, (CUdeviceptr to, unsigned char v, size_t n, CUstream s),
              (to, v, n, s), to, n)
SLUICE_WRITER(cuMemsetD8Async_ptsz, (CUdeviceptr to, unsigned char v, size_t n, CUstream s),
              (to, v, n, s), to, n)
SLUICE_WRITER(cuMemsetD16_v2, (CUdeviceptr to, unsigned short v, size_t n), (to, v, n), to, 2 * n)
SLUICE_WRITER(cuMemsetD16_v2_ptds, (CUdeviceptr to, unsigned short v, size_t n), (to, v, n), to,
              2 * n)
SLUICE_WRITER(cuMemsetD16Async, (CUdeviceptr to, unsigned short v, size_t n, CUstream s),
              (to, v, n, s), to, 2 * n)
SLUICE_WRITER(cuMemsetD16Async_ptsz, (CUdeviceptr to, unsigned short v, size_t n, CUstream s),
              (to, v, n, s), to, 2 * n)
SLUICE_WRITER(cuMemsetD32_v2, (CUdeviceptr to, unsigned int v, size_t n), (to, v, n), to, 4 * n)
SLUICE_WRITER(cuMemsetD32_v2_ptds, (CUdeviceptr to, unsigned int v, size_t n), (to, v, n), to,
              4 * n)
SLUICE_WRITER(cuMemsetD32Async, (CUdeviceptr to, unsigned int v, size_t n, CUstream s),
              (to, v, n, s), to, 4 * n)
SLUICE_WRITER(cuMemsetD32Async_ptsz, (CUdeviceptr to, unsigned int v, size_t n, CUstream s),
              (to, v, n, s), to, 4 * n)
#undef SLUICE_WRITER
