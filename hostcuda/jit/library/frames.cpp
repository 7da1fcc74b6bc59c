#include "hostcuda/jit/library/frames.hpp"

#include <cstdlib>

#include "base/log.hpp"

namespace sluice::hostcuda::jit {
namespace {

FrameHeader* header_of(uint64_t frame) {
  return reinterpret_cast<FrameHeader*>(frame);
}

}  // namespace

extern "C" uint64_t sluice_device_frame_new(uint64_t bytes, uint64_t alignment, uint64_t caller) {
  const uint64_t all = bytes + (caller == 0 ? 0 : header_of(caller)->bytes);
  if (all > max_frame_bytes) {
    log::error(
        "a device function's recursion takes more than {} MiB in one thread: the thread ends",
        max_frame_bytes >> 20);
    sluice_device_frame_free_all(caller);
    return 0;
  }
  // malloc() keeps small blocks by thread, and aligns to 16 bytes.
  void* memory = alignment <= 16 ? std::malloc(bytes) : std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) {
    log::error("no memory for a device function's recursion: the thread ends");
    sluice_device_frame_free_all(caller);
    return 0;
  }
  *static_cast<FrameHeader*>(memory) = {caller, all, 0, 0};
  return reinterpret_cast<uint64_t>(memory);
}

extern "C" uint64_t sluice_device_frame_free(uint64_t frame) {
  const uint64_t caller = header_of(frame)->caller;
  std::free(header_of(frame));
  return caller;
}

extern "C" void sluice_device_frame_free_all(uint64_t frame) {
  while (frame != 0)
    frame = sluice_device_frame_free(frame);
}

}  // namespace sluice::hostcuda::jit
