// The memory that stands for a GPU's: addresses that hold nothing of the host's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "hostcuda/memory/free_ranges.hpp"

namespace sluice::hostcuda {

// DeviceMemory gives out memory of the process in ranges of addresses that it has reserved for
// itself, so that a kernel which writes beyond a buffer, or after it was freed, meets other device
// memory, as on a GPU, or addresses where nothing is, which faults, and never the host's own data.
//
// From own_mapping_threshold on each piece has pages of its own, between addresses that nobody may
// access. Smaller pieces lie side by side in chunks, with a margin on either side, that are
// themselves such pieces; a chunk that is free again is given back, but for a few. Thread-safe.
class DeviceMemory {
 public:
  // The multiple at which everything begins, as a driver's.
  static constexpr size_t granule = 512;
  static constexpr size_t chunk_bytes = size_t{2} << 20;
  static constexpr size_t own_mapping_threshold = size_t{1} << 20;
  // What may be accessed before and behind a chunk's pieces: kernels read the row before their
  // first buffer without using it, and on a GPU other memory of the driver's lies there.
  static constexpr size_t chunk_margin = size_t{64} << 10;
  // What nobody may access before and behind a chunk or a large piece.
  static constexpr size_t guard_bytes = size_t{64} << 10;

  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // allocate() returns zeroed memory, nullptr where there is none. `alignment` is a power of two,
  // a granule or more.
  void* allocate(size_t bytes, size_t alignment = granule);

  // free() takes back what allocate() returned for as many bytes.
  void free(void* memory, size_t bytes);

  // holds() is true of addresses that are reserved for this memory, in use or not.
  bool holds(uintptr_t address) const;

  // committed_bytes() is how much of the reserved addresses can be accessed: chunks, whole,
  // with their margins, and large pieces.
  size_t committed_bytes() const;

 private:
  uintptr_t allocate_pages(size_t bytes);
  void free_pages(uintptr_t address, size_t bytes);
  void give_pages(FreeRange range);
  bool reserve_for(size_t bytes);
  bool add_chunk();
  uintptr_t allocate_granules(size_t bytes, size_t alignment);
  void free_granules(uintptr_t address, size_t bytes);

  // Region is a reserved range of addresses.
  struct Region {
    size_t bytes = 0;
    size_t usable = 0;        // without what stays empty on either side
    bool is_lasting = false;  // kept where nothing of it is in use
  };

  mutable std::mutex mutex_;
  std::map<uintptr_t, Region> regions_;  // guarded by mutex_, as all below
  FreeRanges free_pages_;
  FreeRanges free_granules_;
  size_t committed_ = 0;
};

// device_memory() is the memory of the process's one CPU device. Never destroyed: kernels may run
// until the process ends.
DeviceMemory& device_memory();

// DeviceBytes owns memory of device_memory().
struct FreeDeviceBytes {
  size_t bytes = 0;
  void operator()(std::byte* memory) const { device_memory().free(memory, bytes); }
};
using DeviceBytes = std::unique_ptr<std::byte, FreeDeviceBytes>;

// make_device_bytes() owns nothing where there is no memory.
inline DeviceBytes make_device_bytes(size_t bytes) {
  return {static_cast<std::byte*>(device_memory().allocate(bytes)), FreeDeviceBytes{bytes}};
}

}  // namespace sluice::hostcuda
