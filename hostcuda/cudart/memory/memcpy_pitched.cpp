// Copies of rows: 2D copies between pitched memory, 3D copies from and to arrays as well.
#include <algorithm>

#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/memory/array.hpp"
#include "hostcuda/cudart/memory/copy.hpp"

namespace sluice::cudart {

bool memory_types(cudaMemcpyKind kind, CUmemorytype* source, CUmemorytype* target) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      *source = *target = CU_MEMORYTYPE_HOST;
      return true;
    case cudaMemcpyHostToDevice:
      *source = CU_MEMORYTYPE_HOST;
      *target = CU_MEMORYTYPE_DEVICE;
      return true;
    case cudaMemcpyDeviceToHost:
      *source = CU_MEMORYTYPE_DEVICE;
      *target = CU_MEMORYTYPE_HOST;
      return true;
    case cudaMemcpyDeviceToDevice:
      *source = *target = CU_MEMORYTYPE_DEVICE;
      return true;
    case cudaMemcpyDefault:
      *source = *target = CU_MEMORYTYPE_UNIFIED;
      return true;
  }
  return false;
}

namespace {

// Where an array takes part, its texels are what the extent and its own position count.
cudaError_t describe_arrays(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy) {
  size_t texel_bytes = 1;
  if (parameters.srcArray != nullptr) {
    ArrayShape shape;
    const CUresult result = describe_array(parameters.srcArray, &shape);
    if (result != CUDA_SUCCESS) return to_error(result);
    texel_bytes = shape.texel_bytes;
    copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy->srcArray = driver_array(parameters.srcArray);
    copy->srcXInBytes = parameters.srcPos.x * texel_bytes;
  }
  if (parameters.dstArray != nullptr) {
    ArrayShape shape;
    const CUresult result = describe_array(parameters.dstArray, &shape);
    if (result != CUDA_SUCCESS) return to_error(result);
    texel_bytes = shape.texel_bytes;
    copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy->dstArray = driver_array(parameters.dstArray);
    copy->dstXInBytes = parameters.dstPos.x * texel_bytes;
  }
  copy->WidthInBytes = parameters.extent.width * texel_bytes;
  return cudaSuccess;
}

}  // namespace

cudaError_t describe_box(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy) {
  *copy = {};
  if (!memory_types(parameters.kind, &copy->srcMemoryType, &copy->dstMemoryType)) {
    return cudaErrorInvalidMemcpyDirection;
  }
  copy->srcXInBytes = parameters.srcPos.x;
  copy->srcY = parameters.srcPos.y;
  copy->srcZ = parameters.srcPos.z;
  copy->srcHost = parameters.srcPtr.ptr;
  copy->srcDevice = device_address(parameters.srcPtr.ptr);
  copy->srcPitch = parameters.srcPtr.pitch;
  copy->srcHeight = parameters.srcPtr.ysize;
  copy->dstXInBytes = parameters.dstPos.x;
  copy->dstY = parameters.dstPos.y;
  copy->dstZ = parameters.dstPos.z;
  copy->dstHost = parameters.dstPtr.ptr;
  copy->dstDevice = device_address(parameters.dstPtr.ptr);
  copy->dstPitch = parameters.dstPtr.pitch;
  copy->dstHeight = parameters.dstPtr.ysize;
  copy->WidthInBytes = parameters.extent.width;
  copy->Height = parameters.extent.height;
  copy->Depth = parameters.extent.depth;
  return describe_arrays(parameters, copy);
}

}  // namespace sluice::cudart

using namespace sluice::cudart;

namespace {

struct Rows {
  void* target;
  size_t target_pitch;
  const void* source;
  size_t source_pitch;
  size_t width;
  size_t height;
  cudaMemcpyKind kind;
};

cudaError_t describe(const Rows& rows, CUDA_MEMCPY2D* copy) {
  *copy = {};
  if (!memory_types(rows.kind, &copy->srcMemoryType, &copy->dstMemoryType)) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (rows.width > rows.target_pitch || rows.width > rows.source_pitch) {
    return cudaErrorInvalidPitchValue;
  }
  copy->srcHost = rows.source;
  copy->srcDevice = device_address(rows.source);
  copy->srcPitch = rows.source_pitch;
  copy->dstHost = rows.target;
  copy->dstDevice = device_address(rows.target);
  copy->dstPitch = rows.target_pitch;
  copy->WidthInBytes = rows.width;
  copy->Height = rows.height;
  return cudaSuccess;
}

template <class Body>
cudaError_t copy_rows(const Rows& rows, Body&& body) {
  return with_context([&] {
    CUDA_MEMCPY2D copy;
    const cudaError_t error = describe(rows, &copy);
    if (error != cudaSuccess || rows.width == 0 || rows.height == 0) return error;
    return to_error(body(copy));
  });
}

template <class Body>
cudaError_t copy_box(const cudaMemcpy3DParms* parameters, Body&& body) {
  return with_context([&] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    CUDA_MEMCPY3D copy;
    const cudaError_t error = describe_box(*parameters, &copy);
    const cudaExtent& extent = parameters->extent;
    if (error != cudaSuccess || std::min({extent.width, extent.height, extent.depth}) == 0)
      return error;
    return to_error(body(copy));
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_rows({target, target_pitch, source, source_pitch, width, height, kind},
                   [](const CUDA_MEMCPY2D& copy) { return cuMemcpy2DUnaligned(&copy); });
}

cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return copy_rows({target, target_pitch, source, source_pitch, width, height, kind},
                   [&](const CUDA_MEMCPY2D& copy) { return cuMemcpy2DAsync(&copy, stream); });
}

cudaError_t cudaMemcpy2DAsync_ptsz(void* target, size_t target_pitch, const void* source,
                                   size_t source_pitch, size_t width, size_t height,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, width, height, kind,
                           per_thread(stream));
}

cudaError_t cudaMemcpy2D_ptds(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, width,
                                              height, kind, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy_box(parameters, [](const CUDA_MEMCPY3D& copy) { return cuMemcpy3D(&copy); });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy_box(parameters,
                  [&](const CUDA_MEMCPY3D& copy) { return cuMemcpy3DAsync(&copy, stream); });
}

cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return cudaMemcpy3DAsync(parameters, per_thread(stream));
}

cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* parameters) {
  const cudaError_t error = cudaMemcpy3DAsync(parameters, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

}  // extern "C"
