// Copies and memsets: they close the windows, go to the driver as they are, and tell the runtime
// which bytes of device memory they overwrite; where races are checked, also which they read, and
// on which stream.
#include "interpose/wrappers/call_site.hpp"
#include "interpose/wrappers/wrappers.hpp"

using namespace sluice::interpose;

namespace {

template <class Call>
CUresult observed_copy(sluice::runtime::CopyCall copy, Call&& call) {
  const ErrnoGuard guard;
  sluice::runtime::Runtime* runtime = flushed_runtime();
  const CUresult result = call(Shim::get().calls());
  if (result != CUDA_SUCCESS || runtime == nullptr || copy.bytes == 0) return result;
  if (copy.to != 0) runtime->memory_written(copy.to, copy.bytes);
  if (races() != nullptr) {
    const sluice::runtime::CallSite site = calling_site();
    copy.site = &site;
    races()->copied(copy);
  }
  return result;
}

}  // namespace

// SLUICE_COPY(symbol, (parameters), (arguments), device address written, device address read,
// bytes, stream, does the host wait); an address of host memory is 0.
#define SLUICE_COPY(symbol, parameters, arguments, to, from, bytes, stream, waits)            \
  extern "C" CUresult sluice_wrap_##symbol parameters {                                       \
    return observed_copy({#symbol, to, from, bytes, stream, waits, nullptr},                  \
                         [&](const DriverCalls& driver) { return driver.symbol arguments; }); \
  }
// SLUICE_COPY_NOW: the host waits, and the function's _ptds form takes the thread's own stream.
#define SLUICE_COPY_NOW(symbol, parameters, arguments, to, from, bytes)      \
  SLUICE_COPY(symbol, parameters, arguments, to, from, bytes, nullptr, true) \
  SLUICE_COPY(symbol##_ptds, parameters, arguments, to, from, bytes, CU_STREAM_PER_THREAD, true)

SLUICE_COPY_NOW(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to, from, n)
SLUICE_COPY(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), to, from, n, s, false)
SLUICE_COPY_NOW(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, size_t n), (to, from, n), to, 0,
                n)
SLUICE_COPY(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t n, CUstream s),
            (to, from, n, s), to, 0, n, s, false)
SLUICE_COPY_NOW(cuMemcpyDtoH_v2, (void* to, CUdeviceptr from, size_t n), (to, from, n), 0, from, n)
SLUICE_COPY(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), 0, from, n, s, false)
SLUICE_COPY_NOW(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to,
                from, n)
SLUICE_COPY(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), to, from, n, s, false)
SLUICE_COPY_NOW(cuMemsetD8_v2, (CUdeviceptr to, unsigned char v, size_t n), (to, v, n), to, 0, n)
SLUICE_COPY(cuMemsetD8Async, (CUdeviceptr to, unsigned char v, size_t n, CUstream s), (to, v, n, s),
            to, 0, n, s, false)
SLUICE_COPY_NOW(cuMemsetD16_v2, (CUdeviceptr to, unsigned short v, size_t n), (to, v, n), to, 0,
                2 * n)
SLUICE_COPY(cuMemsetD16Async, (CUdeviceptr to, unsigned short v, size_t n, CUstream s),
            (to, v, n, s), to, 0, 2 * n, s, false)
SLUICE_COPY_NOW(cuMemsetD32_v2, (CUdeviceptr to, unsigned int v, size_t n), (to, v, n), to, 0,
                4 * n)
SLUICE_COPY(cuMemsetD32Async, (CUdeviceptr to, unsigned int v, size_t n, CUstream s), (to, v, n, s),
            to, 0, 4 * n, s, false)
#undef SLUICE_COPY_NOW
#undef SLUICE_COPY
