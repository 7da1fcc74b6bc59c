// What ends a thread of a kernel before its time.
#pragma once

#include <cstdint>

namespace sluice::hostcuda {

// DeviceFault is what compiled code raises itself: `trap`, or a failed assertion. fault_guard.hpp
// adds accesses to memory that is not there.
enum class DeviceFault : uint8_t { none, trap, assertion };

}  // namespace sluice::hostcuda
