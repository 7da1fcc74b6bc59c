// How blocks of one body share a worker that is wider than they are: each group of its threads that
// is as large as a block runs one, with barriers and a part of the shared memory of its own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/number/divide_up.hpp"
#include "megakernel/cuda/worker_memory.h"

namespace sluice::megakernel {

// SideBySide is what one block needs for itself.
struct SideBySide {
  bool is_possible = false;  // or else a worker runs one block after another
  uint32_t threads = 0;      // rounded up to whole warps
  uint32_t barriers = 0;     // of the processor, with the one before the group's next block
  // No barrier and no shared memory: blocks follow each other with no barrier between them.
  bool is_independent = false;
  bool has_memory = false;
  uint32_t offset = 0;  // in the pool: where what a block has for itself begins
  uint32_t bytes = 0;   // of that, without dynamic shared memory

  // most() is how many blocks a worker of so many threads runs at once, if it has the memory for
  // that. Where it is more than one, its module holds the code that does.
  uint32_t most(uint32_t worker_threads) const {
    if (!is_possible) return 1;
    const uint32_t groups = worker_threads / threads;
    return std::max(1U, barriers == 0
                            ? groups
                            : std::min(groups, barriers_of_worker(worker_threads) / barriers));
  }

  // is_one_warp() is whether what a block waits for in it is its warp's affair.
  bool is_one_warp() const { return threads == 32 && barriers == 0; }

  // barriers_of_worker() is how many there are beside the scheduler's, barrier 0. A processor has
  // 24 (sm_120) to 64 of them for all its workers, which are of 1024 threads or not many more: with
  // the scheduler's registers no more fit.
  static constexpr uint32_t barriers_of_worker(uint32_t worker_threads) {
    constexpr uint32_t of_1024_threads = 24;
    constexpr uint32_t most_of_block = 16;
    return std::min(most_of_block, std::max(1U, worker_threads * of_1024_threads / 1024)) - 1;
  }

  // stride() is how far apart the parts of neighbouring groups lie, which keeps all alignments.
  uint64_t stride(uint32_t dynamic_shared_bytes) const {
    return has_memory
               ? round_up(uint64_t{bytes} + dynamic_shared_bytes, uint64_t{SLUICE_POOL_ALIGNMENT})
               : 0;
  }
};

}  // namespace sluice::megakernel
