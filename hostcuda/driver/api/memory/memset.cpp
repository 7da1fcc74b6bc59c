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

// fill_now() returns when the fill is done where the host may read the memory (managed or pinned).
CUresult fill_now(const Fill& what) {
  bool is_waited_for = false;
  const CUresult result =
      with_stream(nullptr, [&](Driver& driver, Context&, const StreamRef& stream) {
        is_waited_for = !is_of_device(driver, what.address);
        return fill_in_stream(driver, stream, what);
      });
  return result == CUDA_SUCCESS && is_waited_for ? cuStreamSynchronize(nullptr) : result;
}

}  // namespace

// The four fills with elements of one width, each also in its form for a default stream per thread.
#define SLUICE_FILLS(bits, Value)                                                                 \
  CUresult cuMemsetD##bits##_v2(CUdeviceptr pointer, Value value, size_t count) {                 \
    return fill_now({pointer, 0, value, bits / 8, count});                                        \
  }                                                                                               \
  SLUICE_PER_THREAD_FORM(cuMemsetD##bits##_v2, ptds,                                              \
                         (CUdeviceptr pointer, Value value, size_t count),                        \
                         (pointer, value, count))                                                 \
  CUresult cuMemsetD##bits##Async(CUdeviceptr pointer, Value value, size_t count,                 \
                                  CUstream stream) {                                              \
    return fill({pointer, 0, value, bits / 8, count}, stream);                                    \
  }                                                                                               \
  SLUICE_PER_THREAD_FORM(cuMemsetD##bits##Async, ptsz,                                            \
                         (CUdeviceptr pointer, Value value, size_t count, CUstream stream),       \
                         (pointer, value, count, stream))                                         \
  CUresult cuMemsetD2D##bits##_v2(CUdeviceptr pointer, size_t pitch, Value value, size_t width,   \
                                  size_t height) {                                                \
    return fill_now({pointer, pitch, value, bits / 8, width, height});                            \
  }                                                                                               \
  SLUICE_PER_THREAD_FORM(                                                                         \
      cuMemsetD2D##bits##_v2, ptds,                                                               \
      (CUdeviceptr pointer, size_t pitch, Value value, size_t width, size_t height),              \
      (pointer, pitch, value, width, height))                                                     \
  CUresult cuMemsetD2D##bits##Async(CUdeviceptr pointer, size_t pitch, Value value, size_t width, \
                                    size_t height, CUstream stream) {                             \
    return fill({pointer, pitch, value, bits / 8, width, height}, stream);                        \
  }                                                                                               \
  SLUICE_PER_THREAD_FORM(cuMemsetD2D##bits##Async, ptsz,                                          \
                         (CUdeviceptr pointer, size_t pitch, Value value, size_t width,           \
                          size_t height, CUstream stream),                                        \
                         (pointer, pitch, value, width, height, stream))

SLUICE_FILLS(8, unsigned char)
SLUICE_FILLS(16, unsigned short)
SLUICE_FILLS(32, unsigned int)
#undef SLUICE_FILLS
