// Texture and surface objects.
#include <algorithm>
#include <iterator>

#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/memory/array.hpp"

using namespace sluice::cudart;

namespace {

// A program's description may hold what is no value of the enumeration; the driver refuses it.
static_assert(static_cast<int>(cudaAddressModeWrap) == CU_TR_ADDRESS_MODE_WRAP);
static_assert(static_cast<int>(cudaAddressModeClamp) == CU_TR_ADDRESS_MODE_CLAMP);
static_assert(static_cast<int>(cudaAddressModeMirror) == CU_TR_ADDRESS_MODE_MIRROR);
static_assert(static_cast<int>(cudaAddressModeBorder) == CU_TR_ADDRESS_MODE_BORDER);
static_assert(static_cast<int>(cudaFilterModeLinear) == CU_TR_FILTER_MODE_LINEAR);

cudaError_t driver_resource(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to) {
  *to = {};
  switch (from.resType) {
    case cudaResourceTypeArray:
      to->resType = CU_RESOURCE_TYPE_ARRAY;
      to->res.array.hArray = driver_array(from.res.array.array);
      return cudaSuccess;
    case cudaResourceTypeLinear: {
      to->resType = CU_RESOURCE_TYPE_LINEAR;
      auto& linear = to->res.linear;
      linear.devPtr = device_address(from.res.linear.devPtr);
      linear.sizeInBytes = from.res.linear.sizeInBytes;
      return array_format(from.res.linear.desc, &linear.format, &linear.numChannels)
                 ? cudaSuccess
                 : cudaErrorInvalidChannelDescriptor;
    }
    case cudaResourceTypePitch2D: {
      to->resType = CU_RESOURCE_TYPE_PITCH2D;
      auto& rows = to->res.pitch2D;
      rows.devPtr = device_address(from.res.pitch2D.devPtr);
      rows.width = from.res.pitch2D.width;
      rows.height = from.res.pitch2D.height;
      rows.pitchInBytes = from.res.pitch2D.pitchInBytes;
      return array_format(from.res.pitch2D.desc, &rows.format, &rows.numChannels)
                 ? cudaSuccess
                 : cudaErrorInvalidChannelDescriptor;
    }
    case cudaResourceTypeMipmappedArray:
      to->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
      to->res.mipmap.hMipmappedArray = driver_array(from.res.mipmap.mipmap);
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

CUDA_TEXTURE_DESC driver_texture(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC to = {};
  std::transform(std::begin(from.addressMode), std::end(from.addressMode),
                 std::begin(to.addressMode),
                 [](cudaTextureAddressMode mode) { return static_cast<CUaddress_mode>(mode); });
  to.filterMode = static_cast<CUfilter_mode>(from.filterMode);
  if (from.readMode == cudaReadModeElementType) to.flags |= CU_TRSF_READ_AS_INTEGER;
  if (from.normalizedCoords != 0) to.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (from.sRGB != 0) to.flags |= CU_TRSF_SRGB;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::copy(std::begin(from.borderColor), std::end(from.borderColor), std::begin(to.borderColor));
  return to;
}

cudaError_t runtime_resource(const CUDA_RESOURCE_DESC& from, cudaResourceDesc* to) {
  *to = {};
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to->resType = cudaResourceTypeArray;
      to->res.array.array = reinterpret_cast<cudaArray_t>(from.res.array.hArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      to->resType = cudaResourceTypeMipmappedArray;
      to->res.mipmap.mipmap =
          reinterpret_cast<cudaMipmappedArray_t>(from.res.mipmap.hMipmappedArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = from.res.linear;
      to->resType = cudaResourceTypeLinear;
      to->res.linear.devPtr = reinterpret_cast<void*>(linear.devPtr);
      to->res.linear.sizeInBytes = linear.sizeInBytes;
      to->res.linear.desc = channel_description(linear.format, linear.numChannels);
      return cudaSuccess;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& rows = from.res.pitch2D;
      to->resType = cudaResourceTypePitch2D;
      to->res.pitch2D.devPtr = reinterpret_cast<void*>(rows.devPtr);
      to->res.pitch2D.width = rows.width;
      to->res.pitch2D.height = rows.height;
      to->res.pitch2D.pitchInBytes = rows.pitchInBytes;
      to->res.pitch2D.desc = channel_description(rows.format, rows.numChannels);
      return cudaSuccess;
    }
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return with_context([&] {
    if (object == nullptr || resource == nullptr || texture == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (view != nullptr && view->format != cudaResViewFormatNone) {
      return unsupported("a texture with a resource view");
    }
    CUDA_RESOURCE_DESC shown;
    const cudaError_t error = driver_resource(*resource, &shown);
    if (error != cudaSuccess) return error;
    const CUDA_TEXTURE_DESC sampling = driver_texture(*texture);
    CUtexObject made = 0;
    const cudaError_t created = to_error(cuTexObjectCreate(&made, &shown, &sampling, nullptr));
    if (created == cudaSuccess) *object = made;
    return created;
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return with_context([&] { return object == 0 ? CUDA_SUCCESS : cuTexObjectDestroy(object); });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  return with_context([&] {
    CUDA_RESOURCE_DESC shown;
    if (resource == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = to_error(cuTexObjectGetResourceDesc(&shown, object));
    return error == cudaSuccess ? runtime_resource(shown, resource) : error;
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
  return with_context([&] {
    CUDA_TEXTURE_DESC from;
    if (texture == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = to_error(cuTexObjectGetTextureDesc(&from, object));
    if (error != cudaSuccess) return error;
    *texture = {};
    std::transform(std::begin(from.addressMode), std::end(from.addressMode),
                   std::begin(texture->addressMode),
                   [](CUaddress_mode mode) { return static_cast<cudaTextureAddressMode>(mode); });
    texture->filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
    texture->readMode = (from.flags & CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType
                                                                    : cudaReadModeNormalizedFloat;
    texture->mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
    texture->mipmapLevelBias = from.mipmapLevelBias;
    texture->minMipmapLevelClamp = from.minMipmapLevelClamp;
    texture->maxMipmapLevelClamp = from.maxMipmapLevelClamp;
    texture->normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
    std::copy(std::begin(from.borderColor), std::end(from.borderColor),
              std::begin(texture->borderColor));
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return with_context([&] {
    if (object == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    CUDA_RESOURCE_DESC shown;
    const cudaError_t error = driver_resource(*resource, &shown);
    if (error != cudaSuccess) return error;
    CUsurfObject made = 0;
    const cudaError_t created = to_error(cuSurfObjectCreate(&made, &shown));
    if (created == cudaSuccess) *object = made;
    return created;
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return with_context([&] { return object == 0 ? CUDA_SUCCESS : cuSurfObjectDestroy(object); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return with_context([&] {
    CUDA_RESOURCE_DESC shown;
    if (resource == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = to_error(cuSurfObjectGetResourceDesc(&shown, object));
    return error == cudaSuccess ? runtime_resource(shown, resource) : error;
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* texels,
                                                 const cudaChannelFormatDesc* channel, int) {
  return with_context([&] {
    if (texels == nullptr || channel == nullptr) return CUDA_ERROR_INVALID_VALUE;
    int widest = 0;
    const CUresult result =
        cuDeviceGetAttribute(&widest, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 0);
    *texels = static_cast<size_t>(widest);
    return result;
  });
}

}  // extern "C"
