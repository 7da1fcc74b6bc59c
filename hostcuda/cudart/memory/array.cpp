// CUDA arrays: allocation and what is asked about them.
#include "hostcuda/cudart/memory/array.hpp"

#include "hostcuda/cudart/api.hpp"

namespace sluice::cudart {

bool array_format(const cudaChannelFormatDesc& channel, CUarray_format* format,
                  unsigned* channels) {
  const int bits[4] = {channel.x, channel.y, channel.z, channel.w};
  *channels = 0;
  for (int width : bits) {
    if (width == 0) break;
    if (width != channel.x) return false;
    ++*channels;
  }
  const bool has_gap = *channels < 4 && (bits[3] != 0 || (*channels < 3 && bits[2] != 0));
  if (*channels == 0 || *channels == 3 || has_gap) return false;
  const auto pick = [&](CUarray_format of8, CUarray_format of16, CUarray_format of32) {
    *format = channel.x == 8 ? of8 : channel.x == 16 ? of16 : of32;
    return channel.x == 8 || channel.x == 16 || channel.x == 32;
  };
  switch (channel.f) {
    case cudaChannelFormatKindSigned:
      return pick(CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32);
    case cudaChannelFormatKindUnsigned:
      return pick(CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
                  CU_AD_FORMAT_UNSIGNED_INT32);
    case cudaChannelFormatKindFloat:
      return channel.x != 8 && pick(CU_AD_FORMAT_HALF, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT);
    default:
      return false;
  }
}

cudaChannelFormatDesc channel_description(CUarray_format format, unsigned channels) {
  int bits = 32;
  cudaChannelFormatKind kind = cudaChannelFormatKindFloat;
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_UNSIGNED_INT32:
      kind = cudaChannelFormatKindUnsigned;
      break;
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT32:
      kind = cudaChannelFormatKindSigned;
      break;
    default:
      break;
  }
  if (format == CU_AD_FORMAT_UNSIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT8) bits = 8;
  if (format == CU_AD_FORMAT_UNSIGNED_INT16 || format == CU_AD_FORMAT_SIGNED_INT16 ||
      format == CU_AD_FORMAT_HALF) {
    bits = 16;
  }
  const auto channel = [&](unsigned number) { return channels > number ? bits : 0; };
  return {channel(0), channel(1), channel(2), channel(3), kind};
}

namespace {

CUresult driver_description(const cudaChannelFormatDesc* channel, cudaExtent extent, unsigned flags,
                            CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  if (channel == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!array_format(*channel, &descriptor->Format, &descriptor->NumChannels)) {
    return static_cast<CUresult>(cudaErrorInvalidChannelDescriptor);
  }
  descriptor->Width = extent.width;
  descriptor->Height = extent.height;
  descriptor->Depth = extent.depth;
  descriptor->Flags = flags;
  return CUDA_SUCCESS;
}

// create_array() lets `create`, a function of the driver's, make the array that the runtime's
// arguments describe.
template <class Made, class Array, class Create>
cudaError_t create_array(Array* array, const cudaChannelFormatDesc* channel, cudaExtent extent,
                         unsigned flags, Create&& create) {
  return with_context([&] {
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {};
    const CUresult described = array == nullptr
                                   ? CUDA_ERROR_INVALID_VALUE
                                   : driver_description(channel, extent, flags, &descriptor);
    if (described != CUDA_SUCCESS) return described;
    Made made = nullptr;
    const CUresult result = create(&made, &descriptor);
    if (result == CUDA_SUCCESS) *array = reinterpret_cast<Array>(made);
    return result;
  });
}

}  // namespace

CUresult describe_array(cudaArray_const_t array, ArrayShape* shape) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  const CUresult result = cuArray3DGetDescriptor(&descriptor, driver_array(array));
  if (result != CUDA_SUCCESS) return result;
  shape->channel = channel_description(descriptor.Format, descriptor.NumChannels);
  shape->extent = {descriptor.Width, descriptor.Height, descriptor.Depth};
  shape->flags = descriptor.Flags;
  shape->texel_bytes = static_cast<size_t>(shape->channel.x) / 8 * descriptor.NumChannels;
  return CUDA_SUCCESS;
}

}  // namespace sluice::cudart

using namespace sluice::cudart;

// The runtime's flags of arrays have the driver's numbers.
static_assert(cudaArrayLayered == CUDA_ARRAY3D_LAYERED);
static_assert(cudaArraySurfaceLoadStore == CUDA_ARRAY3D_SURFACE_LDST);
static_assert(cudaArrayCubemap == CUDA_ARRAY3D_CUBEMAP);
static_assert(cudaArrayTextureGather == CUDA_ARRAY3D_TEXTURE_GATHER);

extern "C" {

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* channel,
                              cudaExtent extent, unsigned flags) {
  return create_array<CUarray>(array, channel, extent, flags, cuArray3DCreate);
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channel, size_t width,
                            size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, channel, {width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return with_context(
      [&] { return array == nullptr ? CUDA_SUCCESS : cuArrayDestroy(driver_array(array)); });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                     const cudaChannelFormatDesc* channel, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
  const auto create = [levels](CUmipmappedArray* made, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
    return cuMipmappedArrayCreate(made, descriptor, levels);
  };
  return create_array<CUmipmappedArray>(array, channel, extent, flags, create);
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return with_context([&] {
    return array == nullptr ? CUDA_SUCCESS : cuMipmappedArrayDestroy(driver_array(array));
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t array,
                                       unsigned number) {
  return with_context([&] {
    return cuMipmappedArrayGetLevel(reinterpret_cast<CUarray*>(level), driver_array(array), number);
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channel, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return with_context([&] {
    ArrayShape shape;
    const CUresult result = describe_array(array, &shape);
    if (result != CUDA_SUCCESS) return result;
    if (channel != nullptr) *channel = shape.channel;
    if (extent != nullptr) *extent = shape.extent;
    if (flags != nullptr) *flags = shape.flags;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channel, cudaArray_const_t array) {
  return with_context([&] {
    ArrayShape shape;
    const CUresult result =
        channel == nullptr ? CUDA_ERROR_INVALID_VALUE : describe_array(array, &shape);
    if (result == CUDA_SUCCESS) *channel = shape.channel;
    return result;
  });
}

}  // extern "C"
