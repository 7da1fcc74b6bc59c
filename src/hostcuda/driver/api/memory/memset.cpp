// Fills.
#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/operations/copy.hpp"

using namespace sluice::hostcuda;

namespace {

CUresult fill(const Fill& fill, CUstream handle) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) {
    return fill_in_stream(driver, stream, fill);
  });
}

// fill_now() returns when the fill is done, so that memory which the host reads directly (managed
// or pinned) has its value.
CUresult fill_now(const Fill& what) {
  const CUresult result = fill(what, nullptr);
  return result == CUDA_SUCCESS ? cuStreamSynchronize(nullptr) : result;
}

}  // namespace

CUresult cuMemsetD8_v2(CUdeviceptr pointer, unsigned char value, size_t count) {
  return fill_now({pointer, 0, value, 1, count});
}
SLUICE_PER_THREAD_FORM(cuMemsetD8_v2, ptds,
                       (CUdeviceptr pointer, unsigned char value, size_t count),
                       (pointer, value, count))

CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream) {
  return fill({pointer, 0, value, 1, count}, stream);
}
SLUICE_PER_THREAD_FORM(cuMemsetD8Async, ptsz,
                       (CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream),
                       (pointer, value, count, stream))

CUresult cuMemsetD2D8_v2(CUdeviceptr pointer, size_t pitch, unsigned char value, size_t width,
                         size_t height) {
  return fill_now({pointer, pitch, value, 1, width, height});
}
SLUICE_PER_THREAD_FORM(cuMemsetD2D8_v2, ptds,
                       (CUdeviceptr pointer, size_t pitch, unsigned char value, size_t width,
                        size_t height),
                       (pointer, pitch, value, width, height))

CUresult cuMemsetD2D8Async(CUdeviceptr pointer, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
  return fill({pointer, pitch, value, 1, width, height}, stream);
}
SLUICE_PER_THREAD_FORM(cuMemsetD2D8Async, ptsz,
                       (CUdeviceptr pointer, size_t pitch, unsigned char value, size_t width,
                        size_t height, CUstream stream),
                       (pointer, pitch, value, width, height, stream))

CUresult cuMemsetD16_v2(CUdeviceptr pointer, unsigned short value, size_t count) {
  return fill_now({pointer, 0, value, 2, count});
}
SLUICE_PER_THREAD_FORM(cuMemsetD16_v2, ptds,
                       (CUdeviceptr pointer, unsigned short value, size_t count),
                       (pointer, value, count))

CUresult cuMemsetD16Async(CUdeviceptr pointer, unsigned short value, size_t count,
                          CUstream stream) {
  return fill({pointer, 0, value, 2, count}, stream);
}
SLUICE_PER_THREAD_FORM(cuMemsetD16Async, ptsz,
                       (CUdeviceptr pointer, unsigned short value, size_t count, CUstream stream),
                       (pointer, value, count, stream))

CUresult cuMemsetD2D16_v2(CUdeviceptr pointer, size_t pitch, unsigned short value, size_t width,
                          size_t height) {
  return fill_now({pointer, pitch, value, 2, width, height});
}
SLUICE_PER_THREAD_FORM(cuMemsetD2D16_v2, ptds,
                       (CUdeviceptr pointer, size_t pitch, unsigned short value, size_t width,
                        size_t height),
                       (pointer, pitch, value, width, height))

CUresult cuMemsetD2D16Async(CUdeviceptr pointer, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream) {
  return fill({pointer, pitch, value, 2, width, height}, stream);
}
SLUICE_PER_THREAD_FORM(cuMemsetD2D16Async, ptsz,
                       (CUdeviceptr pointer, size_t pitch, unsigned short value, size_t width,
                        size_t height, CUstream stream),
                       (pointer, pitch, value, width, height, stream))

CUresult cuMemsetD32_v2(CUdeviceptr pointer, unsigned int value, size_t count) {
  return fill_now({pointer, 0, value, 4, count});
}
SLUICE_PER_THREAD_FORM(cuMemsetD32_v2, ptds,
                       (CUdeviceptr pointer, unsigned int value, size_t count),
                       (pointer, value, count))

CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream) {
  return fill({pointer, 0, value, 4, count}, stream);
}
SLUICE_PER_THREAD_FORM(cuMemsetD32Async, ptsz,
                       (CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream),
                       (pointer, value, count, stream))

CUresult cuMemsetD2D32_v2(CUdeviceptr pointer, size_t pitch, unsigned int value, size_t width,
                          size_t height) {
  return fill_now({pointer, pitch, value, 4, width, height});
}
SLUICE_PER_THREAD_FORM(cuMemsetD2D32_v2, ptds,
                       (CUdeviceptr pointer, size_t pitch, unsigned int value, size_t width,
                        size_t height),
                       (pointer, pitch, value, width, height))

CUresult cuMemsetD2D32Async(CUdeviceptr pointer, size_t pitch, unsigned int value, size_t width,
                            size_t height, CUstream stream) {
  return fill({pointer, pitch, value, 4, width, height}, stream);
}
SLUICE_PER_THREAD_FORM(cuMemsetD2D32Async, ptsz,
                       (CUdeviceptr pointer, size_t pitch, unsigned int value, size_t width,
                        size_t height, CUstream stream),
                       (pointer, pitch, value, width, height, stream))
