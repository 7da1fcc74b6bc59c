// CUDA arrays, and the texture and surface objects that show them (or plain memory) to kernels.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/memory/copy_box.hpp"
#include "hostcuda/jit/texture/texture.hpp"

namespace sluice::hostcuda {

class AllocationTable;

// Array is what a CUarray stands for: texels in rows without gaps, row after row, and plane after
// plane (or layer after layer). Its memory belongs to the allocation table.
class Array {
 public:
  Array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, const TexelImage& image, const void* owner)
      : descriptor_(descriptor), image_(image), owner_(owner) {}

  const CUDA_ARRAY3D_DESCRIPTOR& descriptor() const { return descriptor_; }
  const TexelImage& image() const { return image_; }
  const void* owner() const { return owner_; }
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(image_.data); }

 private:
  const CUDA_ARRAY3D_DESCRIPTOR descriptor_;
  const TexelImage image_;
  const void* const owner_;
};

// texel_format() gives the format of a channel; false where CUDA or this device has no such one.
bool texel_format(CUarray_format format, TexelFormat* result);

// describe_image() lays an array out, without memory: CUDA_ERROR_INVALID_VALUE for a description
// that is none, CUDA_ERROR_NOT_SUPPORTED for one that this device has no arrays for.
CUresult describe_image(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, TexelImage* image,
                        size_t* bytes);

// array_side() is the place of a box within an array. CUDA_ERROR_INVALID_VALUE where it does not
// fit.
CUresult array_side(const Array& array, size_t x_bytes, size_t y, size_t z, const Copy& extent,
                    CopySide* side);

// Texture is what a CUtexObject or a CUsurfObject stands for; `object` is what kernels see, at the
// same address.
struct Texture {
  TextureObject object;
  CUDA_RESOURCE_DESC resource = {};
  CUDA_TEXTURE_DESC texture = {};
  CUDA_RESOURCE_VIEW_DESC view = {};
  // Keep what is shown: an array, or the levels of a mipmapped one.
  std::shared_ptr<Array> array;
  std::vector<std::shared_ptr<Array>> levels;

  Texture() = default;
  Texture(const Texture&) = delete;
  ~Texture() { object.marked = 0; }
};

}  // namespace sluice::hostcuda
