// Copies from and to CUDA arrays.
#include <algorithm>

#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/memory/array.hpp"
#include "hostcuda/cudart/memory/copy.hpp"

using namespace sluice::cudart;

namespace {

// Side is memory in rows, or an array with the place of the box in it (x in bytes).
struct Side {
  const void* memory = nullptr;
  size_t pitch = 0;
  cudaArray_const_t array = nullptr;
  size_t x = 0, y = 0;
};

Side in_array(cudaArray_const_t array, size_t x, size_t y) {
  return {nullptr, 0, array, x, y};
}

Side in_memory(const void* memory, size_t pitch) {
  return {memory, pitch};
}

cudaError_t describe(const Side& target, const Side& source, size_t width, size_t height,
                     cudaMemcpyKind kind, CUDA_MEMCPY2D* copy) {
  *copy = {};
  if (!memory_types(kind, &copy->srcMemoryType, &copy->dstMemoryType)) {
    return cudaErrorInvalidMemcpyDirection;
  }
  for (const Side* side : {&target, &source}) {
    if (side->array == nullptr && width > side->pitch) return cudaErrorInvalidPitchValue;
  }
  if (source.array != nullptr) copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
  if (target.array != nullptr) copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy->srcHost = source.memory;
  copy->srcDevice = device_address(source.memory);
  copy->srcPitch = source.pitch;
  copy->srcArray = driver_array(source.array);
  copy->srcXInBytes = source.x;
  copy->srcY = source.y;
  copy->dstHost = const_cast<void*>(target.memory);
  copy->dstDevice = device_address(target.memory);
  copy->dstPitch = target.pitch;
  copy->dstArray = driver_array(target.array);
  copy->dstXInBytes = target.x;
  copy->dstY = target.y;
  copy->WidthInBytes = width;
  copy->Height = height;
  return cudaSuccess;
}

template <class Body>
cudaError_t copy_rows(const Side& target, const Side& source, size_t width, size_t height,
                      cudaMemcpyKind kind, Body&& body) {
  return with_context([&] {
    CUDA_MEMCPY2D copy;
    const cudaError_t error = describe(target, source, width, height, kind, &copy);
    if (error != cudaSuccess || width == 0 || height == 0) return error;
    return to_error(body(copy));
  });
}

cudaError_t copy_now(const Side& target, const Side& source, size_t width, size_t height,
                     cudaMemcpyKind kind) {
  return copy_rows(target, source, width, height, kind,
                   [](const CUDA_MEMCPY2D& copy) { return cuMemcpy2DUnaligned(&copy); });
}

cudaError_t copy_in_stream(const Side& target, const Side& source, size_t width, size_t height,
                           cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(target, source, width, height, kind,
                   [&](const CUDA_MEMCPY2D& copy) { return cuMemcpy2DAsync(&copy, stream); });
}

// copy_bytes() copies `count` bytes that follow each other through an array's rows, from (x, y) on,
// as at most three boxes: the rest of the first row, whole rows, the start of the last.
// copy_box(array offset x, y, bytes done before, width, height) copies one.
template <class CopyBox>
cudaError_t copy_bytes(cudaArray_const_t array, size_t x, size_t y, size_t count,
                       CopyBox copy_box) {
  ArrayShape shape;
  const cudaError_t error = with_context([&] { return describe_array(array, &shape); });
  if (error != cudaSuccess) return error;
  const size_t row = shape.extent.width * shape.texel_bytes;
  if (x >= row) return count == 0 ? cudaSuccess : record(cudaErrorInvalidValue);
  size_t done = 0;
  while (done < count) {
    const size_t left = count - done;
    const bool has_rows = x == 0 && left >= row;
    const size_t width = has_rows ? row : std::min(left, row - x);
    const size_t height = has_rows ? left / row : 1;
    const cudaError_t copied = copy_box(x, y, done, width, height);
    if (copied != cudaSuccess) return copied;
    done += width * height;
    y += height;
    x = 0;
  }
  return cudaSuccess;
}

const void* after(const void* memory, size_t bytes) {
  return static_cast<const char*>(memory) + bytes;
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy2DToArray(cudaArray_t target, size_t x, size_t y, const void* source,
                                size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_now(in_array(target, x, y), in_memory(source, pitch), width, height, kind);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t target, size_t x, size_t y, const void* source,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return copy_in_stream(in_array(target, x, y), in_memory(source, pitch), width, height, kind,
                        stream);
}

cudaError_t cudaMemcpy2DFromArray(void* target, size_t pitch, cudaArray_const_t source, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_now(in_memory(target, pitch), in_array(source, x, y), width, height, kind);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* target, size_t pitch, cudaArray_const_t source,
                                       size_t x, size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_in_stream(in_memory(target, pitch), in_array(source, x, y), width, height, kind,
                        stream);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t target, size_t target_x, size_t target_y,
                                     cudaArray_const_t source, size_t source_x, size_t source_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_now(in_array(target, target_x, target_y), in_array(source, source_x, source_y), width,
                  height, kind);
}

cudaError_t cudaMemcpyToArray(cudaArray_t target, size_t x, size_t y, const void* source,
                              size_t count, cudaMemcpyKind kind) {
  return copy_bytes(target, x, y, count,
                    [&](size_t at_x, size_t at_y, size_t done, size_t width, size_t height) {
                      return cudaMemcpy2DToArray(target, at_x, at_y, after(source, done), width,
                                                 width, height, kind);
                    });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t target, size_t x, size_t y, const void* source,
                                   size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes(target, x, y, count,
                    [&](size_t at_x, size_t at_y, size_t done, size_t width, size_t height) {
                      return cudaMemcpy2DToArrayAsync(target, at_x, at_y, after(source, done),
                                                      width, width, height, kind, stream);
                    });
}

cudaError_t cudaMemcpyFromArray(void* target, cudaArray_const_t source, size_t x, size_t y,
                                size_t count, cudaMemcpyKind kind) {
  return copy_bytes(source, x, y, count,
                    [&](size_t at_x, size_t at_y, size_t done, size_t width, size_t height) {
                      return cudaMemcpy2DFromArray(const_cast<void*>(after(target, done)), width,
                                                   source, at_x, at_y, width, height, kind);
                    });
}

cudaError_t cudaMemcpyFromArrayAsync(void* target, cudaArray_const_t source, size_t x, size_t y,
                                     size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes(
      source, x, y, count, [&](size_t at_x, size_t at_y, size_t done, size_t width, size_t height) {
        return cudaMemcpy2DFromArrayAsync(const_cast<void*>(after(target, done)), width, source,
                                          at_x, at_y, width, height, kind, stream);
      });
}

// The forms for programs with a default stream per thread.

cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t target, size_t x, size_t y,
                                          const void* source, size_t pitch, size_t width,
                                          size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DToArrayAsync(target, x, y, source, pitch, width, height, kind,
                                  per_thread(stream));
}

cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t target, size_t x, size_t y, const void* source,
                                     size_t pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpy2DToArrayAsync(target, x, y, source, pitch, width, height,
                                                     kind, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void* target, size_t pitch, cudaArray_const_t source,
                                            size_t x, size_t y, size_t width, size_t height,
                                            cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DFromArrayAsync(target, pitch, source, x, y, width, height, kind,
                                    per_thread(stream));
}

cudaError_t cudaMemcpy2DFromArray_ptds(void* target, size_t pitch, cudaArray_const_t source,
                                       size_t x, size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpy2DFromArrayAsync(target, pitch, source, x, y, width, height,
                                                       kind, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

}  // extern "C"
