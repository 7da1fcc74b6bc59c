// The scratch of a block: its shared memory, and what its threads keep across barriers.
#pragma once

#include <algorithm>

#include "hostcuda/memory/device_memory.hpp"

namespace sluice::hostcuda {

// make_scratch() owns at least `bytes` bytes, aligned as device memory, or nothing where there is
// no memory. It always has pages of its own: threads that write beyond their shared memory reach
// nobody else's, and fault soon.
inline DeviceBytes make_scratch(size_t bytes) {
  return make_device_bytes(std::max(bytes, DeviceMemory::own_mapping_threshold));
}

}  // namespace sluice::hostcuda
