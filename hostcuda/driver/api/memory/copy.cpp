// Copies.
#include "hostcuda/driver/operations/copy.hpp"

#include "hostcuda/driver/api/entry.hpp"

using namespace sluice::hostcuda;

namespace {

uintptr_t address(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

CUresult copy(const Copy& copy) {
  return with_stream(nullptr, [&](Driver& driver, Context&, const StreamRef& stream) {
    return copy_as_called(driver, stream, copy, linear_copy_parameters(copy));
  });
}

CUresult copy_async(const Copy& copy, CUstream handle) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) {
    return copy_in_stream(driver, stream, copy, linear_copy_parameters(copy));
  });
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return copy(linear_copy(destination, Side::unified, source, Side::unified, bytes));
}
SLUICE_PER_THREAD_FORM(cuMemcpy, ptds, (CUdeviceptr destination, CUdeviceptr source, size_t bytes),
                       (destination, source, bytes))

CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  return copy_async(linear_copy(destination, Side::unified, source, Side::unified, bytes), stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpyAsync, ptsz,
                       (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream),
                       (destination, source, bytes, stream))

CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source, size_t bytes) {
  return copy(linear_copy(destination, Side::device, address(source), Side::host, bytes));
}
SLUICE_PER_THREAD_FORM(cuMemcpyHtoD_v2, ptds,
                       (CUdeviceptr destination, const void* source, size_t bytes),
                       (destination, source, bytes))

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source, size_t bytes,
                              CUstream stream) {
  return copy_async(linear_copy(destination, Side::device, address(source), Side::host, bytes),
                    stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpyHtoDAsync_v2, ptsz,
                       (CUdeviceptr destination, const void* source, size_t bytes, CUstream stream),
                       (destination, source, bytes, stream))

CUresult cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, size_t bytes) {
  return copy(linear_copy(address(destination), Side::host, source, Side::device, bytes));
}
SLUICE_PER_THREAD_FORM(cuMemcpyDtoH_v2, ptds, (void* destination, CUdeviceptr source, size_t bytes),
                       (destination, source, bytes))

CUresult cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return copy_async(linear_copy(address(destination), Side::host, source, Side::device, bytes),
                    stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpyDtoHAsync_v2, ptsz,
                       (void* destination, CUdeviceptr source, size_t bytes, CUstream stream),
                       (destination, source, bytes, stream))

CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return copy(linear_copy(destination, Side::device, source, Side::device, bytes));
}
SLUICE_PER_THREAD_FORM(cuMemcpyDtoD_v2, ptds,
                       (CUdeviceptr destination, CUdeviceptr source, size_t bytes),
                       (destination, source, bytes))

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return copy_async(linear_copy(destination, Side::device, source, Side::device, bytes), stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpyDtoDAsync_v2, ptsz,
                       (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream),
                       (destination, source, bytes, stream))

// Between contexts of the one device a peer copy is a copy.
CUresult cuMemcpyPeer(CUdeviceptr destination, CUcontext, CUdeviceptr source, CUcontext,
                      size_t bytes) {
  return cuMemcpyDtoD_v2(destination, source, bytes);
}
SLUICE_PER_THREAD_FORM(cuMemcpyPeer, ptds,
                       (CUdeviceptr destination, CUcontext to, CUdeviceptr source, CUcontext from,
                        size_t bytes),
                       (destination, to, source, from, bytes))

CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext, CUdeviceptr source, CUcontext,
                           size_t bytes, CUstream stream) {
  return cuMemcpyDtoDAsync_v2(destination, source, bytes, stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpyPeerAsync, ptsz,
                       (CUdeviceptr destination, CUcontext to, CUdeviceptr source, CUcontext from,
                        size_t bytes, CUstream stream),
                       (destination, to, source, from, bytes, stream))
