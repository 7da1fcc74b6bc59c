// How large this machine's caches are, for the order of tasks.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::schedule {

// CacheSizes are bytes; 0: unknown.
struct CacheSizes {
  uint64_t own = 0;   // of each processor for itself: the second level
  uint64_t last = 0;  // of the last level, as far as one processor reaches
};

// read_cache_sizes() goes by the kernel's description of a processor's caches in `folder`, and by
// sysconf() where there is none: the C library multiplies the last level by the number of cores on
// some processors, so that 32 MiB become 320.
CacheSizes read_cache_sizes(const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace sluice::schedule
