// Copies.
#include "hostcuda/driver/copy.hpp"
#include "hostcuda/driver/entry.hpp"

using namespace sluice::hostcuda;

namespace {

uintptr_t address(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

CUresult copy(const Copy& copy) {
  return with_context([&](Driver& driver, Context&) { return copy_now(driver, copy); });
}

CUresult copy_async(const Copy& copy, CUstream handle) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) {
    return copy_in_stream(driver, stream, copy);
  });
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return copy(linear_copy(destination, Side::unified, source, Side::unified, bytes));
}
SLUICE_PER_THREAD_FORM(cuMemcpy, ptds)

CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  return copy_async(linear_copy(destination, Side::unified, source, Side::unified, bytes), stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpyAsync, ptsz)

CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source, size_t bytes) {
  return copy(linear_copy(destination, Side::device, address(source), Side::host, bytes));
}
SLUICE_PER_THREAD_FORM(cuMemcpyHtoD_v2, ptds)

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source, size_t bytes,
                              CUstream stream) {
  return copy_async(linear_copy(destination, Side::device, address(source), Side::host, bytes),
                    stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpyHtoDAsync_v2, ptsz)

CUresult cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, size_t bytes) {
  return copy(linear_copy(address(destination), Side::host, source, Side::device, bytes));
}
SLUICE_PER_THREAD_FORM(cuMemcpyDtoH_v2, ptds)

CUresult cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return copy_async(linear_copy(address(destination), Side::host, source, Side::device, bytes),
                    stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpyDtoHAsync_v2, ptsz)

CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return copy(linear_copy(destination, Side::device, source, Side::device, bytes));
}
SLUICE_PER_THREAD_FORM(cuMemcpyDtoD_v2, ptds)

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return copy_async(linear_copy(destination, Side::device, source, Side::device, bytes), stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpyDtoDAsync_v2, ptsz)

// Between contexts of the one device a peer copy is a copy.
CUresult cuMemcpyPeer(CUdeviceptr destination, CUcontext, CUdeviceptr source, CUcontext,
                      size_t bytes) {
  return cuMemcpyDtoD_v2(destination, source, bytes);
}
SLUICE_PER_THREAD_FORM(cuMemcpyPeer, ptds)

CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext, CUdeviceptr source, CUcontext,
                           size_t bytes, CUstream stream) {
  return cuMemcpyDtoDAsync_v2(destination, source, bytes, stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpyPeerAsync, ptsz)
