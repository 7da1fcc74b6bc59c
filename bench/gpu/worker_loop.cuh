// The hand-written worker loop: the megakernel's protocol with nothing else in it.
//
// Workers are the resident blocks of one launch. A worker takes the next ticket, waits until the
// five tasks that it depends on have raised their flags, runs the body and raises its own flag.
// Whatever a task waits for has a smaller ticket, so a worker that runs already holds it, as the
// ticket that it runs or behind one that is smaller still: with any number of workers the smallest
// unfinished ticket can always go on.
#pragma once
#include "order.hpp"
#include "ptx.cuh"

namespace sluice::gpu_probe {

constexpr int worker_threads = 256;

// What the workers share. `flags` has one word a tile: the number of its steps that are done.
struct WorkerTable {
  unsigned* counter;     // the next ticket
  unsigned* flags;       // per tile
  unsigned* failed;      // raised if a wait ran out; all figures are void then
  unsigned* tasks_done;  // for the check at the end
  unsigned tickets;      // how many there are
  unsigned width;        // tiles across
  unsigned height;       // tiles down
};

struct Task {
  unsigned step;
  unsigned tile;
};

// Step after step, each tile by tile: the order of launches, computed.
struct ComputedOrder {
  unsigned tiles;
  __device__ Task operator()(unsigned ticket) const { return {ticket / tiles, ticket % tiles}; }
};

// Any order, from a table that the host made (order.hpp says how a task is packed).
struct TableOrder {
  const unsigned* tasks;
  __device__ Task operator()(unsigned ticket) const {
    const unsigned task = tasks[ticket];
    return {task >> task_tile_bits, task & task_tile_mask};
  }
};

// Lanes 0 to 4 wait for one of the five masters each; the others, and those whose neighbour lies
// outside the grid, have nothing to wait for. True where the wait was met.
__device__ inline bool wait_for_masters(const WorkerTable& table, Task task, unsigned lane) {
  const unsigned x = task.tile % table.width;
  const unsigned y = task.tile / table.width;
  unsigned master = task.tile;
  bool waits = lane == 0;
  if (lane == 1) {
    waits = x > 0;
    master = task.tile - 1;
  } else if (lane == 2) {
    waits = x + 1 < table.width;
    master = task.tile + 1;
  } else if (lane == 3) {
    waits = y > 0;
    master = task.tile - table.width;
  } else if (lane == 4) {
    waits = y + 1 < table.height;
    master = task.tile + table.width;
  }
  return !waits || wait_until_at_least(&table.flags[master], task.step);
}

// run_worker() is the loop of one block of worker_threads threads. `body(step, tile)` is called by
// all threads of the block and may use barriers.
//
// Memory order: the lanes that acquire the masters' flags and the threads that read the masters'
// data are different threads of the block, joined by the barrier before the body; the threads that
// write and the one that releases are joined by the barrier after it. Causality is transitive over
// barriers and release/acquire pairs, so the body may use plain loads and stores.
//
// Ending: after a wait that ran out the worker stops without raising its flag, so its successors
// run out as well, once each; the launch ends after a few limits.
template <class Order, class Body>
__device__ inline void run_worker(const WorkerTable& table, const Order& order, Body&& body) {
  __shared__ unsigned shared_step;
  __shared__ unsigned shared_tile;
  __shared__ bool shared_stop;
  const unsigned lane = threadIdx.x;
  unsigned next = 0;
  unsigned done = 0;
  if (lane == 0) {
    next = take_ticket(table.counter);
  }
  for (;;) {
    if (threadIdx.x < 32) {
      const unsigned ticket = __shfl_sync(0xFFFFFFFFu, next, 0);
      bool stop = ticket >= table.tickets;
      if (!stop) {
        const Task task = order(ticket);
        const bool met = wait_for_masters(table, task, lane);
        stop = !__all_sync(0xFFFFFFFFu, met);
        if (lane == 0) {
          shared_step = task.step;
          shared_tile = task.tile;
          if (stop) {
            atomicExch(table.failed, 1u);
          }
        }
      }
      if (lane == 0) {
        shared_stop = stop;
      }
    }
    __syncthreads();
    if (shared_stop) {
      break;
    }
    const unsigned step = shared_step;
    const unsigned tile = shared_tile;
    if (lane == 0) {
      // Fetched ahead: the add travels while the body runs.
      next = take_ticket(table.counter);
    }
    body(step, tile);
    // Also keeps lane 0 from overwriting the shared task while others still read it.
    __syncthreads();
    if (lane == 0) {
      store_release(&table.flags[tile], step + 1);
      ++done;
    }
  }
  if (lane == 0) {
    atomicAdd(table.tasks_done, done);
  }
}

}  // namespace sluice::gpu_probe
