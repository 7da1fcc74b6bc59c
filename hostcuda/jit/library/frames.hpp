// The frames of recursive functions, in memory of their thread.
#pragma once

#include <cstdint>

namespace sluice::hostcuda::jit {

// The functions that compiled code calls: names in the device library (device_library.hpp).
// frame_new(bytes, alignment, caller's frame or 0) is a frame's address, 0 where the thread's
// recursion takes more than max_frame_bytes or there is no memory; frame_free(frame) frees it and
// gives the caller's; frame_free_all(frame) frees it and all callers'.
inline constexpr const char* frame_new_name = "sluice.frame.new";
inline constexpr const char* frame_free_name = "sluice.frame.free";
inline constexpr const char* frame_free_all_name = "sluice.frame.free_all";

inline constexpr uint64_t max_frame_bytes = 8 << 20;

// What a frame begins with.
struct FrameHeader {
  uint64_t caller = 0;
  uint64_t bytes = 0;  // of this frame and all its callers'
  uint64_t site = 0;   // where the caller goes on
  uint64_t reserved = 0;
};

extern "C" uint64_t sluice_device_frame_new(uint64_t bytes, uint64_t alignment, uint64_t caller);
extern "C" uint64_t sluice_device_frame_free(uint64_t frame);
extern "C" void sluice_device_frame_free_all(uint64_t frame);

}  // namespace sluice::hostcuda::jit
