// Copies of two and three dimensions.
#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/operations/copy.hpp"

using namespace sluice::hostcuda;

namespace {

CUresult full_parameters(const CUDA_MEMCPY3D* box, CUDA_MEMCPY3D* full) {
  if (box == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *full = *box;
  return CUDA_SUCCESS;
}

CUresult full_parameters(const CUDA_MEMCPY2D* box, CUDA_MEMCPY3D* full) {
  if (box == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *full = {};
  full->srcXInBytes = box->srcXInBytes;
  full->srcY = box->srcY;
  full->srcMemoryType = box->srcMemoryType;
  full->srcHost = box->srcHost;
  full->srcDevice = box->srcDevice;
  full->srcArray = box->srcArray;
  full->srcPitch = box->srcPitch;
  full->dstXInBytes = box->dstXInBytes;
  full->dstY = box->dstY;
  full->dstMemoryType = box->dstMemoryType;
  full->dstHost = box->dstHost;
  full->dstDevice = box->dstDevice;
  full->dstArray = box->dstArray;
  full->dstPitch = box->dstPitch;
  full->WidthInBytes = box->WidthInBytes;
  full->Height = box->Height;
  full->Depth = 1;
  return CUDA_SUCCESS;
}

template <class Box, class Body>
CUresult copy_box(const Box* box, CUstream handle, Body body) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) {
    CUDA_MEMCPY3D parameters;
    Copy copy;
    CUresult result = full_parameters(box, &parameters);
    if (result == CUDA_SUCCESS) result = describe_copy(parameters, &copy);
    return result != CUDA_SUCCESS ? result : body(driver, stream, copy, parameters);
  });
}

template <class Box>
CUresult copy_box(const Box* box) {
  return copy_box(box, nullptr, copy_as_called);
}

template <class Box>
CUresult copy_box_async(const Box* box, CUstream handle) {
  return copy_box(box, handle, copy_in_stream);
}

}  // namespace

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* box) {
  return copy_box(box);
}
SLUICE_PER_THREAD_FORM(cuMemcpy2D_v2, ptds, (const CUDA_MEMCPY2D* box), (box))

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* box) {
  return copy_box(box);
}
SLUICE_PER_THREAD_FORM(cuMemcpy2DUnaligned_v2, ptds, (const CUDA_MEMCPY2D* box), (box))

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* box, CUstream stream) {
  return copy_box_async(box, stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpy2DAsync_v2, ptsz, (const CUDA_MEMCPY2D* box, CUstream stream),
                       (box, stream))

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* box) {
  return copy_box(box);
}
SLUICE_PER_THREAD_FORM(cuMemcpy3D_v2, ptds, (const CUDA_MEMCPY3D* box), (box))

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* box, CUstream stream) {
  return copy_box_async(box, stream);
}
SLUICE_PER_THREAD_FORM(cuMemcpy3DAsync_v2, ptsz, (const CUDA_MEMCPY3D* box, CUstream stream),
                       (box, stream))
