// Threads that stay on one processor each.
#pragma once

#include <vector>

#include <pthread.h>
#include <sched.h>

namespace sluice::bench {

// processors() are those that this process may run on.
inline std::vector<int> processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return found;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &set)) found.push_back(processor);
  }
  return found;
}

// stay_on() keeps the calling thread on one processor.
inline void stay_on(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace sluice::bench
