#include "hostcuda/driver/memory/mipmapped_array.hpp"

#include <algorithm>
#include <bit>

namespace sluice::hostcuda {
namespace {

bool has_layers(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  return (descriptor.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
}

}  // namespace

HandleTable<MipmappedArray, CUmipmappedArray>& mipmapped_arrays() {
  static auto* table = new HandleTable<MipmappedArray, CUmipmappedArray>;
  return *table;
}

CUDA_ARRAY3D_DESCRIPTOR level_descriptor(const CUDA_ARRAY3D_DESCRIPTOR& largest, unsigned level) {
  const auto halved = [&](size_t extent) {
    return extent == 0 ? 0 : std::max<size_t>(extent >> level, 1);
  };
  CUDA_ARRAY3D_DESCRIPTOR descriptor = largest;
  descriptor.Width = halved(largest.Width);
  descriptor.Height = halved(largest.Height);
  if (!has_layers(largest)) descriptor.Depth = halved(largest.Depth);
  return descriptor;
}

unsigned level_count(const CUDA_ARRAY3D_DESCRIPTOR& largest, unsigned wanted) {
  size_t extent = std::max(largest.Width, largest.Height);
  if (!has_layers(largest)) extent = std::max(extent, largest.Depth);
  return std::clamp(wanted, 1U, std::max(1U, static_cast<unsigned>(std::bit_width(extent))));
}

}  // namespace sluice::hostcuda
