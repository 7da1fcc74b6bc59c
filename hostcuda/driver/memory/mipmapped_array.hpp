// Mipmapped arrays: one array for each level of detail.
#pragma once

#include <memory>
#include <vector>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/device/handle_table.hpp"
#include "hostcuda/driver/memory/array.hpp"

namespace sluice::hostcuda {

// MipmappedArray is what a CUmipmappedArray stands for: its levels, the largest first, each an
// array with a handle of its own.
struct MipmappedArray {
  std::vector<std::shared_ptr<Array>> levels;
};

HandleTable<MipmappedArray, CUmipmappedArray>& mipmapped_arrays();

// level_descriptor() is the description of a level: extents halve and end at 1; layers stay.
CUDA_ARRAY3D_DESCRIPTOR level_descriptor(const CUDA_ARRAY3D_DESCRIPTOR& largest, unsigned level);

// level_count() is how many levels there are where a program asks for `wanted`: one at least, and
// none smaller than a texel.
unsigned level_count(const CUDA_ARRAY3D_DESCRIPTOR& largest, unsigned wanted);

}  // namespace sluice::hostcuda
