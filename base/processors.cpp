#include "base/processors.hpp"

#include <algorithm>
#include <thread>

#include <sched.h>

#include "base/keep_errno.hpp"

namespace sluice {

uint32_t available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

int current_processor() {
  const KeepErrno keep;
  const int processor = sched_getcpu();
  return processor < 0 ? no_processor : processor;
}

void move_away(std::span<const int> taken) {
  const KeepErrno keep;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  for (const int processor : taken) {
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_CLR(processor, &others);
  }
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace sluice
