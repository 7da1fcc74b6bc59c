// Fills. A memset is asynchronous to the host only in its Async forms.
#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

namespace {

unsigned char byte(int value) {
  return static_cast<unsigned char>(value);
}

// fill_box() fills a 3D region slice by slice with `fill_rows(address, rows)`; slices that follow
// each other without a gap are one fill.
template <class FillRows>
CUresult fill_box(const cudaPitchedPtr& target, const cudaExtent& extent, FillRows&& fill_rows) {
  const CUdeviceptr first = device_address(target.ptr);
  if (target.ysize == extent.height) return fill_rows(first, extent.height * extent.depth);
  for (size_t z = 0; z < extent.depth; ++z) {
    const CUresult result = fill_rows(first + z * target.ysize * target.pitch, extent.height);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

bool is_empty(const cudaExtent& extent) {
  return extent.width * extent.height * extent.depth == 0;
}

}  // namespace

extern "C" {

cudaError_t cudaMemset(void* target, int value, size_t count) {
  return with_context([&] {
    return count == 0 ? CUDA_SUCCESS : cuMemsetD8(device_address(target), byte(value), count);
  });
}

cudaError_t cudaMemsetAsync(void* target, int value, size_t count, cudaStream_t stream) {
  return with_context([&] {
    return count == 0 ? CUDA_SUCCESS
                      : cuMemsetD8Async(device_address(target), byte(value), count, stream);
  });
}

cudaError_t cudaMemsetAsync_ptsz(void* target, int value, size_t count, cudaStream_t stream) {
  return cudaMemsetAsync(target, value, count, per_thread(stream));
}

cudaError_t cudaMemset_ptds(void* target, int value, size_t count) {
  const cudaError_t error = cudaMemsetAsync(target, value, count, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

cudaError_t cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
  return with_context([&] {
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    return cuMemsetD2D8(device_address(target), pitch, byte(value), width, height);
  });
}

cudaError_t cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return with_context([&] {
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    return cuMemsetD2D8Async(device_address(target), pitch, byte(value), width, height, stream);
  });
}

cudaError_t cudaMemset2DAsync_ptsz(void* target, size_t pitch, int value, size_t width,
                                   size_t height, cudaStream_t stream) {
  return cudaMemset2DAsync(target, pitch, value, width, height, per_thread(stream));
}

cudaError_t cudaMemset2D_ptds(void* target, size_t pitch, int value, size_t width, size_t height) {
  const cudaError_t error =
      cudaMemset2DAsync(target, pitch, value, width, height, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

cudaError_t cudaMemset3D(cudaPitchedPtr target, int value, cudaExtent extent) {
  return with_context([&] {
    if (is_empty(extent)) return CUDA_SUCCESS;
    return fill_box(target, extent, [&](CUdeviceptr address, size_t rows) {
      return cuMemsetD2D8(address, target.pitch, byte(value), extent.width, rows);
    });
  });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr target, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return with_context([&] {
    if (is_empty(extent)) return CUDA_SUCCESS;
    return fill_box(target, extent, [&](CUdeviceptr address, size_t rows) {
      return cuMemsetD2D8Async(address, target.pitch, byte(value), extent.width, rows, stream);
    });
  });
}

cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr target, int value, cudaExtent extent,
                                   cudaStream_t stream) {
  return cudaMemset3DAsync(target, value, extent, per_thread(stream));
}

cudaError_t cudaMemset3D_ptds(cudaPitchedPtr target, int value, cudaExtent extent) {
  const cudaError_t error = cudaMemset3DAsync(target, value, extent, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

}  // extern "C"
