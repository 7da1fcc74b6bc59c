#include "base/processors.hpp"

#include <algorithm>
#include <thread>

#include <sched.h>

namespace sluice {

uint32_t available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace sluice
