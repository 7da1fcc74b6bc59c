// For whom a plan is made.
#pragma once

#include <cstdint>

namespace sluice::schedule {

// Threads. With 2048 of them a task, tickets and flags cost the host's workers more than they bring
// (three times slower than no tasks at all, on a stencil of 4096 x 4096); with this many they
// vanish. Larger tasks make a tile's sweeps lie farther apart, so that fewer of them fit the cache.
constexpr uint64_t host_task_threads = 16384;
// A worker of a GPU runs the threads of a block at once: only blocks smaller than this share a
// ticket.
constexpr uint64_t device_task_threads = 512;
// Nanoseconds. Ticket, waits and flag of a task take a GPU's worker a few microseconds of memory's
// latency, and its tasks should be some times as long.
constexpr uint64_t device_task_nanoseconds = 20'000;

// Nanoseconds of a worker of the host for each byte: launches that take longer are not held up by
// memory.
constexpr double host_idle_memory = 2;
// Of what a device's memory could bring: launches that take less of it wait for something else, and
// a cache brings them nothing. On an H200 a stencil that took half of it lost a tenth by time
// tiles, and how long blocks take is measured with a tenth of noise.
constexpr double busy_memory = 0.9;

// Machine is what a planner knows of the executor.
struct Machine {
  uint64_t cache_bytes = 0;  // what the sweeps of a time tile may have between them; 0: no tiles
  uint32_t workers = 1;
  double idle_memory = host_idle_memory;  // likewise, of this machine's workers
  // Of a device: launches that all fit this need no tiles; 0: not known.
  uint64_t shared_cache_bytes = 0;
  uint64_t task_threads = host_task_threads;
  // Not 0: a task of measured blocks takes so long at least, where there are blocks enough.
  uint64_t least_nanoseconds = 0;
  // Of all workers together, each its own; windows of fewer are shared out by worker.
  uint64_t own_cache_bytes = 0;
  // Whether workers have queues of their own, so that tiles may have parts, and measure blocks:
  // until they have, a launch makes several tasks for each worker, since a heavy launch in few
  // tasks costs more than a light one in many.
  bool on_host = false;
  bool in_runs = false;  // whether it reads orders as runs
  uint32_t stress = 0;   // not 0, for tests: the seed of random topological orders
};

}  // namespace sluice::schedule
