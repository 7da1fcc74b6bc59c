// Copies and memsets: they close the windows, go to the driver as they are, and tell the runtime
// which bytes of device memory they overwrite; where races are checked, also which they read, and
// on which stream.
#include "interpose/call_site.hpp"
#include "interpose/per_thread.hpp"
#include "interpose/shim.hpp"
#include "interpose/wrappers.hpp"

using namespace sluice::interpose;

namespace {

const CUstream legacy = nullptr;
const CUstream own = CU_STREAM_PER_THREAD;

template <class Call>
CUresult observed_copy(sluice::runtime::CopyCall copy, Call&& call) {
  const ErrnoGuard guard;
  sluice::runtime::Runtime* runtime = flushed_runtime();
  const CUresult result = call(Shim::get().calls());
  if (result != CUDA_SUCCESS || runtime == nullptr || copy.bytes == 0) return result;
  if (copy.to != 0) runtime->memory_written(copy.to, copy.bytes);
  if (runtime->checks_races()) {
    const sluice::runtime::CallSite site = calling_site();
    copy.site = &site;
    runtime->copied(copy);
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

SLUICE_COPY(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to, from, n,
            legacy, true)
SLUICE_COPY(cuMemcpy_ptds, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to, from, n,
            own, true)
SLUICE_COPY(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), to, from, n, s, false)
SLUICE_COPY(cuMemcpyAsync_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), to, from, n, per_thread(s), false)
SLUICE_COPY(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, size_t n), (to, from, n), to, 0, n,
            legacy, true)
SLUICE_COPY(cuMemcpyHtoD_v2_ptds, (CUdeviceptr to, const void* from, size_t n), (to, from, n), to,
            0, n, own, true)
SLUICE_COPY(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t n, CUstream s),
            (to, from, n, s), to, 0, n, s, false)
SLUICE_COPY(cuMemcpyHtoDAsync_v2_ptsz, (CUdeviceptr to, const void* from, size_t n, CUstream s),
            (to, from, n, s), to, 0, n, per_thread(s), false)
SLUICE_COPY(cuMemcpyDtoH_v2, (void* to, CUdeviceptr from, size_t n), (to, from, n), 0, from, n,
            legacy, true)
SLUICE_COPY(cuMemcpyDtoH_v2_ptds, (void* to, CUdeviceptr from, size_t n), (to, from, n), 0, from, n,
            own, true)
SLUICE_COPY(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), 0, from, n, s, false)
SLUICE_COPY(cuMemcpyDtoHAsync_v2_ptsz, (void* to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), 0, from, n, per_thread(s), false)
SLUICE_COPY(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to, from,
            n, legacy, true)
SLUICE_COPY(cuMemcpyDtoD_v2_ptds, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to,
            from, n, own, true)
SLUICE_COPY(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), to, from, n, s, false)
SLUICE_COPY(cuMemcpyDtoDAsync_v2_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), to, from, n, per_thread(s), false)
SLUICE_COPY(cuMemsetD8_v2, (CUdeviceptr to, unsigned char v, size_t n), (to, v, n), to, 0, n,
            legacy, true)
SLUICE_COPY(cuMemsetD8_v2_ptds, (CUdeviceptr to, unsigned char v, size_t n), (to, v, n), to, 0, n,
            own, true)
SLUICE_COPY(cuMemsetD8Async, (CUdeviceptr to, unsigned char v, size_t n, CUstream s), (to, v, n, s),
            to, 0, n, s, false)
SLUICE_COPY(cuMemsetD8Async_ptsz, (CUdeviceptr to, unsigned char v, size_t n, CUstream s),
            (to, v, n, s), to, 0, n, per_thread(s), false)
SLUICE_COPY(cuMemsetD16_v2, (CUdeviceptr to, unsigned short v, size_t n), (to, v, n), to, 0, 2 * n,
            legacy, true)
SLUICE_COPY(cuMemsetD16_v2_ptds, (CUdeviceptr to, unsigned short v, size_t n), (to, v, n), to, 0,
            2 * n, own, true)
SLUICE_COPY(cuMemsetD16Async, (CUdeviceptr to, unsigned short v, size_t n, CUstream s),
            (to, v, n, s), to, 0, 2 * n, s, false)
SLUICE_COPY(cuMemsetD16Async_ptsz, (CUdeviceptr to, unsigned short v, size_t n, CUstream s),
            (to, v, n, s), to, 0, 2 * n, per_thread(s), false)
SLUICE_COPY(cuMemsetD32_v2, (CUdeviceptr to, unsigned int v, size_t n), (to, v, n), to, 0, 4 * n,
            legacy, true)
SLUICE_COPY(cuMemsetD32_v2_ptds, (CUdeviceptr to, unsigned int v, size_t n), (to, v, n), to, 0,
            4 * n, own, true)
SLUICE_COPY(cuMemsetD32Async, (CUdeviceptr to, unsigned int v, size_t n, CUstream s), (to, v, n, s),
            to, 0, 4 * n, s, false)
SLUICE_COPY(cuMemsetD32Async_ptsz, (CUdeviceptr to, unsigned int v, size_t n, CUstream s),
            (to, v, n, s), to, 0, 4 * n, per_thread(s), false)
#undef SLUICE_COPY
