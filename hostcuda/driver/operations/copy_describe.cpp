#include "hostcuda/driver/operations/copy.hpp"

namespace sluice::hostcuda {
namespace {

// BoxSide is one side of a CUDA_MEMCPY3D.
struct BoxSide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  size_t x, y, z;
  size_t pitch;
  size_t height;  // rows of a plane
  CUarray array;
};

bool add_scaled(uintptr_t* sum, size_t count, size_t scale) {
  size_t product = 0;
  return !__builtin_mul_overflow(count, scale, &product) &&
         !__builtin_add_overflow(*sum, product, sum);
}

CUresult make_side(const BoxSide& box, const Copy& extent, CopySide* side) {
  switch (box.type) {
    case CU_MEMORYTYPE_HOST:
      *side = {reinterpret_cast<uintptr_t>(box.host), box.pitch, 0, Side::host};
      break;
    case CU_MEMORYTYPE_DEVICE:
      *side = {box.device, box.pitch, 0, Side::device};
      break;
    case CU_MEMORYTYPE_UNIFIED:
      *side = {box.device, box.pitch, 0, Side::unified};
      break;
    case CU_MEMORYTYPE_ARRAY: {
      const std::shared_ptr<Array> array = Driver::get()->arrays.find(box.array);
      return array == nullptr ? CUDA_ERROR_INVALID_HANDLE
                              : array_side(*array, box.x, box.y, box.z, extent, side);
    }
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  // A pitch of 0 means rows without a gap, a height of 0 planes without one.
  if (side->pitch == 0) side->pitch = box.x + extent.width;
  const size_t rows = box.height == 0 ? box.y + extent.height : box.height;
  const bool row_fits = box.x <= side->pitch && extent.width <= side->pitch - box.x;
  if (!row_fits || __builtin_mul_overflow(side->pitch, rows, &side->slice) ||
      !add_scaled(&side->address, box.x, 1) || !add_scaled(&side->address, box.y, side->pitch) ||
      !add_scaled(&side->address, box.z, side->slice)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult make_copy(const BoxSide& destination, const BoxSide& source, Copy* copy) {
  const CUresult result = make_side(destination, *copy, &copy->destination);
  return result != CUDA_SUCCESS ? result : make_side(source, *copy, &copy->source);
}

}  // namespace

CUresult describe_copy(const CUDA_MEMCPY3D& box, Copy* copy) {
  if (box.srcLOD != 0 || box.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  copy->width = box.WidthInBytes;
  copy->height = box.Height;
  copy->depth = box.Depth;
  return make_copy({box.dstMemoryType, box.dstHost, box.dstDevice, box.dstXInBytes, box.dstY,
                    box.dstZ, box.dstPitch, box.dstHeight, box.dstArray},
                   {box.srcMemoryType, box.srcHost, box.srcDevice, box.srcXInBytes, box.srcY,
                    box.srcZ, box.srcPitch, box.srcHeight, box.srcArray},
                   copy);
}

}  // namespace sluice::hostcuda
