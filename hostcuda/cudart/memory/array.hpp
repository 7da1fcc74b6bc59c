// What the runtime's array functions share.
#pragma once

#include <cstddef>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace sluice::cudart {

// A cudaArray_t is the driver's CUarray.
inline CUarray driver_array(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}

inline CUmipmappedArray driver_array(cudaMipmappedArray_const_t array) {
  return reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray_t>(array));
}

// array_format() gives the driver's format of a channel description; false where there is none: 1,
// 2 or 4 channels of equal width.
bool array_format(const cudaChannelFormatDesc& channel, CUarray_format* format, unsigned* channels);
cudaChannelFormatDesc channel_description(CUarray_format format, unsigned channels);

struct ArrayShape {
  cudaChannelFormatDesc channel = {};
  cudaExtent extent = {};  // height and depth are 0 where the array has none
  unsigned flags = 0;
  size_t texel_bytes = 0;
};
CUresult describe_array(cudaArray_const_t array, ArrayShape* shape);

}  // namespace sluice::cudart
