// The scheduler kernel: a worker (a resident block) takes tickets, waits for the tasks that its
// task depends on, runs the task's blocks, and releases its flag. The protocol, and why no number
// of workers can deadlock: docs/megakernel.md; its model: docs/model.
#include "megakernel/cuda/tables/device_edges.h"
#include "megakernel/cuda/tables/window_tables.h"
#include "megakernel/cuda/worker_memory.h"

extern __shared__ __align__(SLUICE_POOL_ALIGNMENT)
unsigned char sluice_pool[];

// Runs block (x, y, z) of a launch whose kernel is body number `body`. Its definition is written
// when the bodies are linked (linker.hpp).
extern "C" __device__ void sluice_run_block(uint32_t body, uint32_t x, uint32_t y, uint32_t z);

namespace {

__device__ void store_release(uint64_t* place, uint64_t value) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
}

__device__ void add_release(uint64_t* place) {
  asm volatile("red.release.gpu.global.add.u64 [%0], 1;" ::"l"(place) : "memory");
}

// The barrier of all threads of a worker. Lanes come back from a body each by its own way, so it is
// not the one that takes a warp for whole.
__device__ void meet_worker() {
  asm volatile("barrier.sync 0;" ::: "memory");
}

__device__ uint32_t& control(unsigned offset) {
  return *reinterpret_cast<uint32_t*>(sluice_pool + offset);
}

// Random delays for tests: between nothing and a good part of a task.
__device__ void stress(uint32_t seed, uint32_t ticket, uint32_t place) {
  uint32_t hash = (seed ^ (ticket * 3 + place)) * 2654435761U;
  hash = (hash ^ (hash >> 15)) * 2246822519U;
  hash ^= hash >> 13;
  if ((hash & 3U) != 0) return;
  if ((hash & 4U) != 0) return sleep();
  for (unsigned i = 0; i < (hash >> 3) % 1021; ++i) {
    uint32_t clock;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clock));
    i += clock & 0U;  // It is read for the time that this takes.
  }
}

__device__ void await_masters(SluiceWindow* window, const SluiceSlot& slot,
                              uint32_t first_block, uint32_t block_count) {
  const Waiter waiter(window, &control(SLUICE_CONTROL_STOPS), control(SLUICE_CONTROL_TICKET), threadIdx.x);
  const auto* dependences = reinterpret_cast<const SluiceDependence*>(
      reinterpret_cast<const unsigned char*>(window) + window->dependences);
  for (uint32_t i = 0; i < slot.dependence_count; ++i) {
    waiter.await(dependences[slot.first_dependence + i], first_block, block_count);
  }
}

__device__ void stage_parameters(const SluiceWindow* window, const SluiceSlot& slot) {
  const auto* from = reinterpret_cast<const uint64_t*>(
      reinterpret_cast<const unsigned char*>(window) + slot.staged);
  auto* to = reinterpret_cast<uint64_t*>(sluice_pool + SLUICE_PARAMETERS);
  for (uint32_t i = threadIdx.x; i < slot.staged_words; i += blockDim.x) {
    to[i] = from[i];
  }
  if (threadIdx.x < 3) control(SLUICE_CONTROL_NCTAID + 4 * threadIdx.x) = slot.grid[threadIdx.x];
  if (threadIdx.x == 3) control(SLUICE_CONTROL_DYNAMIC_SHARED) = slot.dynamic_shared_bytes;
}

__device__ void run_blocks(const SluiceSlot& slot, uint32_t first_block, uint32_t block_count) {
  uint32_t x = first_block % slot.grid[0];
  uint32_t y = first_block / slot.grid[0] % slot.grid[1];
  uint32_t z = first_block / slot.grid[0] / slot.grid[1];
  for (uint32_t i = 0; i < block_count; ++i) {
    // The block before has left the shared memory that this one is about to write.
    if (i != 0 && slot.independent == 0) meet_worker();
    sluice_run_block(slot.body, x, y, z);
    if (++x == slot.grid[0]) {
      x = 0;
      if (++y == slot.grid[1]) {
        y = 0;
        ++z;
      }
    }
  }
}

// Called by one thread after a barrier of the worker: what all its threads wrote goes before the
// release.
__device__ void release_task(const SluiceWindow* window, const SluiceSlot& slot,
                             uint32_t first_block) {
  const uint32_t task = first_block / slot.blocks_per_task;
  store_release(window->flags + slot.first_flag + task, window->epoch);
  if (slot.counter != SLUICE_NONE) add_release(window->counters + slot.counter);
  if (slot.group_counters != SLUICE_NONE) {
    const auto* counters = reinterpret_cast<const uint32_t*>(
        reinterpret_cast<const unsigned char*>(window) + slot.group_counters);
    if (counters[task] != SLUICE_NONE) add_release(window->counters + counters[task]);
  }
}

}  // namespace

// A one-dimensional kernel of at least one warp and at least as many threads as any body asks for;
// any number of blocks.
extern "C" __global__ void sluice_megakernel(SluiceWindow* window) {
  const bool leads = threadIdx.x == 0;
  const auto* base = reinterpret_cast<const unsigned char*>(window);
  const auto* slots = reinterpret_cast<const SluiceSlot*>(base + window->slots);
  const auto* tasks = reinterpret_cast<const SluiceTask*>(base + window->tasks);
  uint32_t ticket = 0;
  uint32_t next_ticket = 0;
  uint32_t staged_slot = SLUICE_NONE;
  if (leads) {
    control(SLUICE_CONTROL_HAS_BARRIER) = control(SLUICE_CONTROL_STOPS) = 0;
    next_ticket = atomicAdd(&window->next_ticket, 1U);
  }
  for (;;) {
    if (leads) {
      ticket = next_ticket;
      const bool more = ticket < window->task_count;
      control(SLUICE_CONTROL_TICKET) = ticket;
      control(SLUICE_CONTROL_SLOT) = more ? tasks[ticket].slot : SLUICE_NONE;
      control(SLUICE_CONTROL_FIRST_BLOCK) = more ? tasks[ticket].first_block : 0;
      control(SLUICE_CONTROL_BLOCK_COUNT) = more ? tasks[ticket].block_count : 0;
    }
    meet_worker();
    const uint32_t slot_number = control(SLUICE_CONTROL_SLOT);
    if (slot_number == SLUICE_NONE) return;
    const uint32_t first_block = control(SLUICE_CONTROL_FIRST_BLOCK);
    const uint32_t block_count = control(SLUICE_CONTROL_BLOCK_COUNT);
    const SluiceSlot& slot = slots[slot_number];
    // Fetched ahead: the answer is not needed before this task is done. The tickets of a worker
    // only grow, so the smallest one that is not done is never one that is held for later.
    if (leads) next_ticket = atomicAdd(&window->next_ticket, 1U);
    if (slot_number != staged_slot) stage_parameters(window, slot);
    staged_slot = slot_number;
    if (leads && window->stress != 0) stress(window->stress, ticket, 0);
    if (threadIdx.x < lanes) await_masters(window, slot, first_block, block_count);
    meet_worker();
    if (control(SLUICE_CONTROL_STOPS) != 0) return;
    run_blocks(slot, first_block, block_count);
    if (leads && window->stress != 0) stress(window->stress, ticket, 1);
    meet_worker();
    if (leads) {
      release_task(window, slot, first_block);
      if (window->stress != 0) stress(window->stress, ticket, 2);
    }
  }
}
