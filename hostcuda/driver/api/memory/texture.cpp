// Texture and surface objects.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/memory/array.hpp"
#include "hostcuda/driver/memory/mipmapped_array.hpp"

using namespace sluice;
using namespace sluice::hostcuda;

namespace {

CUresult refuse(const char* what) {
  log::error("{} is unsupported on the CPU device; use another texture", what);
  return CUDA_ERROR_NOT_SUPPORTED;
}

// show_memory() makes linear or pitched memory an image.
CUresult show_memory(const Driver& driver, const CUDA_RESOURCE_DESC& resource, TexelImage* image) {
  CUdeviceptr pointer = 0;
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  unsigned channels = 0;
  size_t bytes = 0;
  const bool is_linear = resource.resType == CU_RESOURCE_TYPE_LINEAR;
  if (is_linear) {
    const auto& linear = resource.res.linear;
    pointer = linear.devPtr;
    format = linear.format;
    channels = linear.numChannels;
    bytes = linear.sizeInBytes;
  } else {
    const auto& rows = resource.res.pitch2D;
    pointer = rows.devPtr;
    format = rows.format;
    channels = rows.numChannels;
    if (__builtin_mul_overflow(rows.pitchInBytes, rows.height, &bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (channels != 1 && channels != 2 && channels != 4) return CUDA_ERROR_INVALID_VALUE;
  if (!texel_format(format, &image->format)) return refuse("a texture of that format");
  image->channels = channels;
  if (is_linear) {
    image->width = static_cast<uint32_t>(std::min<size_t>(bytes / image->texel_bytes(), INT32_MAX));
    image->row_bytes = bytes;
  } else {
    const auto& rows = resource.res.pitch2D;
    if (rows.width == 0 || rows.height == 0 || rows.width > INT32_MAX || rows.height > INT32_MAX ||
        rows.width * image->texel_bytes() > rows.pitchInBytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    image->width = static_cast<uint32_t>(rows.width);
    image->height = static_cast<uint32_t>(rows.height);
    image->row_bytes = rows.pitchInBytes;
    // The last row's padding need not be there.
    bytes -= rows.pitchInBytes - rows.width * image->texel_bytes();
  }
  const std::optional<Allocation> allocation = driver.memory.find(pointer);
  if (pointer == 0 || !allocation || !allocation->covers(pointer, bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  image->data = reinterpret_cast<std::byte*>(pointer);
  return CUDA_SUCCESS;
}

// A mipmapped array's coordinates must be normalized, as its levels' extents differ.
CUresult show_levels(Texture* made) {
  const std::shared_ptr<MipmappedArray> known =
      mipmapped_arrays().find(made->resource.res.mipmap.hMipmappedArray);
  if (known == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if ((made->texture.flags & CU_TRSF_NORMALIZED_COORDINATES) == 0) return CUDA_ERROR_INVALID_VALUE;
  made->levels = known->levels;
  made->object.image = known->levels[0]->image();
  for (size_t level = 1; level < known->levels.size(); ++level)
    made->object.smaller.push_back(known->levels[level]->image());
  return CUDA_SUCCESS;
}

CUresult show_resource(const Driver& driver, Texture* made) {
  switch (made->resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      made->array = driver.arrays.find(made->resource.res.array.hArray);
      if (made->array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
      made->object.image = made->array->image();
      return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR:
      made->object.is_linear_memory = true;
      return show_memory(driver, made->resource, &made->object.image);
    case CU_RESOURCE_TYPE_PITCH2D:
      return show_memory(driver, made->resource, &made->object.image);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return show_levels(made);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

bool address_mode(CUaddress_mode mode, AddressMode* result) {
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
      *result = AddressMode::wrap;
      return true;
    case CU_TR_ADDRESS_MODE_CLAMP:
      *result = AddressMode::clamp;
      return true;
    case CU_TR_ADDRESS_MODE_MIRROR:
      *result = AddressMode::mirror;
      return true;
    case CU_TR_ADDRESS_MODE_BORDER:
      *result = AddressMode::border;
      return true;
  }
  return false;
}

CUresult set_sampling(const CUDA_TEXTURE_DESC& texture, TextureObject* object) {
  for (size_t axis = 0; axis < 3; ++axis) {
    if (!address_mode(texture.addressMode[axis], &object->address[axis])) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if ((texture.flags & CU_TRSF_SRGB) != 0) return refuse("a texture in sRGB");
  object->filters = texture.filterMode == CU_TR_FILTER_MODE_LINEAR;
  object->normalized = (texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  object->reads_normalized = (texture.flags & CU_TRSF_READ_AS_INTEGER) == 0;
  object->filters_levels = texture.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
  object->level_bias = texture.mipmapLevelBias;
  object->least_level = texture.minMipmapLevelClamp;
  object->greatest_level = texture.maxMipmapLevelClamp;
  std::copy(std::begin(texture.borderColor), std::end(texture.borderColor), object->border.begin());
  return CUDA_SUCCESS;
}

CUresult destroy(unsigned long long handle, bool is_surface) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<Texture> known = driver.textures.find(handle);
    if (known == nullptr || known->object.is_surface != is_surface) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // A launch that uses the object may still run.
    return driver.when_all_done(
        [object = driver.textures.remove(handle)]() mutable { object.reset(); });
  });
}

// describe() copies what an object was made from.
template <class Description>
CUresult describe(unsigned long long handle, bool is_surface, Description Texture::* member,
                  Description* description) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<Texture> known = driver.textures.find(handle);
    if (description == nullptr || known == nullptr || known->object.is_surface != is_surface) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *description = (*known).*member;
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuTexObjectCreate(CUtexObject* handle, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    if (handle == nullptr || resource == nullptr || texture == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (view != nullptr && view->format != CU_RES_VIEW_FORMAT_NONE) {
      return refuse("a texture with a resource view");
    }
    auto made = std::make_shared<Texture>();
    made->resource = *resource;
    made->texture = *texture;
    CUresult result = show_resource(driver, made.get());
    if (result == CUDA_SUCCESS) result = set_sampling(*texture, &made->object);
    if (result == CUDA_SUCCESS) *handle = driver.textures.add(std::move(made));
    return result;
  });
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
  return destroy(handle, false);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* description, CUtexObject handle) {
  return describe(handle, false, &Texture::resource, description);
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* description, CUtexObject handle) {
  return describe(handle, false, &Texture::texture, description);
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* description, CUtexObject handle) {
  return describe(handle, false, &Texture::view, description);
}

CUresult cuSurfObjectCreate(CUsurfObject* handle, const CUDA_RESOURCE_DESC* resource) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    if (handle == nullptr || resource == nullptr || resource->resType != CU_RESOURCE_TYPE_ARRAY) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto made = std::make_shared<Texture>();
    made->resource = *resource;
    made->object.is_surface = true;
    const CUresult result = show_resource(driver, made.get());
    if (result != CUDA_SUCCESS) return result;
    if ((made->array->descriptor().Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *handle = driver.textures.add(std::move(made));
    return CUDA_SUCCESS;
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return destroy(handle, true);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* description, CUsurfObject handle) {
  return describe(handle, true, &Texture::resource, description);
}
