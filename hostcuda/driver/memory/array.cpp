#include "hostcuda/driver/memory/array.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace sluice::hostcuda {

bool texel_format(CUarray_format format, TexelFormat* result) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      *result = TexelFormat::u8;
      return true;
    case CU_AD_FORMAT_UNSIGNED_INT16:
      *result = TexelFormat::u16;
      return true;
    case CU_AD_FORMAT_UNSIGNED_INT32:
      *result = TexelFormat::u32;
      return true;
    case CU_AD_FORMAT_SIGNED_INT8:
      *result = TexelFormat::s8;
      return true;
    case CU_AD_FORMAT_SIGNED_INT16:
      *result = TexelFormat::s16;
      return true;
    case CU_AD_FORMAT_SIGNED_INT32:
      *result = TexelFormat::s32;
      return true;
    case CU_AD_FORMAT_HALF:
      *result = TexelFormat::f16;
      return true;
    case CU_AD_FORMAT_FLOAT:
      *result = TexelFormat::f32;
      return true;
    default:
      return false;
  }
}

CUresult describe_image(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, TexelImage* image,
                        size_t* bytes) {
  constexpr unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                             CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
  constexpr size_t largest_extent = 1 << 27;
  if ((descriptor.Flags & ~known) != 0) {
    log::error(
        "an array with flags {:#x} is unsupported on the CPU device; use plain, layered or "
        "cube map arrays",
        descriptor.Flags);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const bool is_cube = (descriptor.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  const bool is_layered = (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  const size_t channels = descriptor.NumChannels;
  if (descriptor.Width == 0 || descriptor.Width > largest_extent ||
      descriptor.Height > largest_extent || descriptor.Depth > largest_extent ||
      (channels != 1 && channels != 2 && channels != 4) || (is_layered && descriptor.Depth == 0) ||
      (!is_layered && descriptor.Depth != 0 && descriptor.Height == 0)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (is_cube && (descriptor.Width != descriptor.Height || descriptor.Depth % 6 != 0 ||
                  descriptor.Depth == 0 || (!is_layered && descriptor.Depth != 6))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!texel_format(descriptor.Format, &image->format)) {
    log::error(
        "an array of format {:#x} is unsupported on the CPU device; use integers of 8 to 32 "
        "bits, half or float",
        static_cast<unsigned>(descriptor.Format));
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const auto extent = [](size_t size) { return static_cast<uint32_t>(std::max<size_t>(size, 1)); };
  image->channels = static_cast<uint32_t>(channels);
  image->width = extent(descriptor.Width);
  image->height = extent(descriptor.Height);
  const bool has_layers = is_cube || is_layered;
  image->depth = has_layers ? 1 : extent(descriptor.Depth);
  image->layers = has_layers ? extent(descriptor.Depth) : 1;
  image->row_bytes = uint64_t{image->width} * image->texel_bytes();
  image->slice_bytes = image->row_bytes * image->height;
  if (__builtin_mul_overflow(image->slice_bytes, uint64_t{image->depth} * image->layers, bytes)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

CUresult array_side(const Array& array, size_t x_bytes, size_t y, size_t z, const Copy& extent,
                    CopySide* side) {
  const TexelImage& image = array.image();
  const auto fits = [](size_t first, size_t count, size_t limit) {
    return first <= limit && count <= limit - first;
  };
  if (!fits(x_bytes, extent.width, image.row_bytes) || !fits(y, extent.height, image.height) ||
      !fits(z, extent.depth, size_t{image.depth} * image.layers)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *side = {array.address() + x_bytes + y * image.row_bytes + z * image.slice_bytes, image.row_bytes,
           image.slice_bytes, Side::device};
  return CUDA_SUCCESS;
}

}  // namespace sluice::hostcuda
