// The scheduler kernel: a worker (a resident block) takes tickets, waits for the tasks that its
// task depends on, runs the task's blocks, and releases its flag. The protocol, and why no number
// of workers can deadlock: docs/megakernel.md; its model: docs/model.
#include "megakernel/cuda/window_tables.h"
#include "megakernel/cuda/worker_memory.h"

extern __shared__ __align__(SLUICE_POOL_ALIGNMENT)
unsigned char sluice_pool[];

// Runs block (x, y, z) of a launch whose kernel is body number `body`. Its definition is written
// when the bodies are linked (linker.hpp).
extern "C" __device__ void sluice_run_block(uint32_t body, uint32_t x, uint32_t y, uint32_t z);

namespace {

constexpr unsigned lanes = 32;
// The lanes that wait look at several ranges of masters at once, and at several tasks of each.
constexpr unsigned lanes_of_range = 8;
constexpr unsigned ranges_at_once = lanes / lanes_of_range;
// A master that is nearly done is found without sleeping; longer waits leave the memory system
// alone.
constexpr unsigned polls_awake = 32;
constexpr unsigned sleep_nanoseconds = 40;

__device__ uint64_t load_acquire(const uint64_t* place) {
  uint64_t value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  return value;
}

__device__ void store_release(uint64_t* place, uint64_t value) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
}

__device__ void add_release(uint64_t* place) {
  asm volatile("red.release.gpu.global.add.u64 [%0], 1;" ::"l"(place) : "memory");
}

__device__ void sleep() {
  asm volatile("nanosleep.u32 %0;" ::"n"(sleep_nanoseconds));
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

// Waiter is one lane of the warp that waits for a task's masters.
class Waiter {
 public:
  __device__ Waiter(const SluiceWindow* window, unsigned lane)
      : window_(window),
        base_(reinterpret_cast<const unsigned char*>(window)),
        flags_(window->flags),
        counters_(window->counters),
        epoch_(window->epoch),
        lane_(lane) {}

  __device__ void await(const SluiceDependence& dependence, uint32_t first_block,
                        uint32_t block_count) const {
    const uint32_t last_block = first_block + block_count - 1;
    switch (dependence.kind) {
      case SLUICE_WAIT_NEIGHBOURS:
        return await_neighbours(dependence, first_block, last_block);
      case SLUICE_WAIT_BOX:
        if (touches_slave_box(dependence, first_block, last_block)) await_box(dependence);
        return;
      case SLUICE_WAIT_RANGES:
        return await_ranges(dependence, first_block, last_block);
      case SLUICE_WAIT_COUNTER:
        if (touches_slave_box(dependence, first_block, last_block) && lane_ == 0) {
          await_counter(dependence.counter, dependence.counter_target);
        }
        return;
      default:
        return await_groups(dependence, first_block, last_block);
    }
  }

 private:
  // A row is a run of blocks with the same y and z; rows are numbered y + z * grid.y.
  struct Row {
    uint32_t first_x;
    uint32_t last_x;
    uint32_t y;
    uint32_t z;
  };

  template <class T>
  __device__ const T* at(uint64_t offset) const {
    return reinterpret_cast<const T*>(base_ + offset);
  }

  // row() is that part of a row which lies among the blocks first_block .. last_block and in the
  // box; false where nothing does.
  __device__ static bool row(const SluiceDependence& d, uint32_t number, uint32_t first_block,
                             uint32_t last_block, Row& row) {
    const uint32_t width = d.slave_grid[0];
    row.y = number % d.slave_grid[1];
    row.z = number / d.slave_grid[1];
    row.first_x = number == first_block / width ? first_block % width : 0;
    row.last_x = number == last_block / width ? last_block % width : width - 1;
    row.first_x = max(row.first_x, d.slave_box.first[0]);
    row.last_x = min(row.last_x, d.slave_box.last[0]);
    return row.first_x <= row.last_x && row.y >= d.slave_box.first[1] &&
           row.y <= d.slave_box.last[1] && row.z >= d.slave_box.first[2] &&
           row.z <= d.slave_box.last[2];
  }

  __device__ bool touches_slave_box(const SluiceDependence& d, uint32_t first_block,
                                    uint32_t last_block) const {
    const uint32_t first = first_block / d.slave_grid[0];
    const uint32_t last = last_block / d.slave_grid[0];
    bool touches = false;
    Row part;
    for (uint32_t number = first + lane_; number <= last && !touches; number += lanes) {
      touches = row(d, number, first_block, last_block, part);
    }
    return __any_sync(0xFFFFFFFFU, touches);
  }

  __device__ void await_neighbours(const SluiceDependence& d, uint32_t first_block,
                                   uint32_t last_block) const {
    const uint32_t first_row = first_block / d.slave_grid[0];
    const uint32_t rows = last_block / d.slave_grid[0] - first_row + 1;
    const uint32_t pairs = rows * d.item_count;
    const int32_t* offsets = at<int32_t>(d.items);
    for (uint32_t pair = lane_ / lanes_of_range; pair < pairs; pair += ranges_at_once) {
      Row part;
      if (!row(d, first_row + pair / d.item_count, first_block, last_block, part)) continue;
      const int32_t* offset = offsets + 3 * (pair % d.item_count);
      const int64_t first = max(int64_t{part.first_x} + offset[0], int64_t{d.master_box.first[0]});
      const int64_t last = min(int64_t{part.last_x} + offset[0], int64_t{d.master_box.last[0]});
      const int64_t y = int64_t{part.y} + offset[1];
      const int64_t z = int64_t{part.z} + offset[2];
      if (first > last || y < d.master_box.first[1] || y > d.master_box.last[1] ||
          z < d.master_box.first[2] || z > d.master_box.last[2]) {
        continue;
      }
      const int64_t row_start = d.master_grid[0] * (y + d.master_grid[1] * z);
      await_blocks(d, static_cast<uint32_t>(row_start + first),
                   static_cast<uint32_t>(row_start + last));
    }
  }

  __device__ void await_box(const SluiceDependence& d) const {
    const SluiceBox& box = d.master_box;
    const uint32_t height = box.last[1] - box.first[1] + 1;
    const uint32_t rows = height * (box.last[2] - box.first[2] + 1);
    for (uint32_t i = lane_ / lanes_of_range; i < rows; i += ranges_at_once) {
      const uint32_t y = box.first[1] + i % height;
      const uint32_t z = box.first[2] + i / height;
      const uint32_t row_start = d.master_grid[0] * (y + d.master_grid[1] * z);
      await_blocks(d, row_start + box.first[0], row_start + box.last[0]);
    }
  }

  __device__ void await_ranges(const SluiceDependence& d, uint32_t first_block,
                               uint32_t last_block) const {
    const uint32_t* rows = at<uint32_t>(d.rows);
    const uint32_t* ranges = at<uint32_t>(d.items);
    const uint32_t end = rows[last_block + 1];
    for (uint32_t i = rows[first_block] + lane_ / lanes_of_range; i < end; i += ranges_at_once) {
      await_blocks(d, ranges[2 * i], ranges[2 * i + 1]);
    }
  }

  __device__ void await_groups(const SluiceDependence& d, uint32_t first_block,
                               uint32_t last_block) const {
    const uint32_t* rows = at<uint32_t>(d.rows);
    const uint64_t* groups = at<uint64_t>(d.items);
    const uint32_t end = rows[last_block + 1];
    for (uint32_t i = rows[first_block] + lane_; i < end; i += lanes) {
      await_counter(static_cast<uint32_t>(groups[2 * i]), groups[2 * i + 1]);
    }
  }

  __device__ void await_blocks(const SluiceDependence& d, uint32_t first_block,
                               uint32_t last_block) const {
    const uint32_t last = last_block / d.master_blocks_per_task;
    for (uint32_t task = first_block / d.master_blocks_per_task + lane_ % lanes_of_range;
         task <= last; task += lanes_of_range) {
      const uint64_t* flag = flags_ + d.master_first_flag + task;
      for (unsigned polls = 0; load_acquire(flag) != epoch_; ++polls) {
        if (polls >= polls_awake) sleep();
      }
    }
  }

  __device__ void await_counter(uint32_t counter, uint64_t target) const {
    for (unsigned polls = 0; load_acquire(counters_ + counter) < target; ++polls) {
      if (polls >= polls_awake) sleep();
    }
  }

  const SluiceWindow* window_;
  const unsigned char* base_;
  const uint64_t* flags_;
  const uint64_t* counters_;
  const uint64_t epoch_;
  const unsigned lane_;
};

__device__ void await_masters(const SluiceWindow* window, const SluiceSlot& slot,
                              uint32_t first_block, uint32_t block_count) {
  const Waiter waiter(window, threadIdx.x);
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
    if (i != 0 && slot.independent == 0) __syncthreads();
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
  if (leads) next_ticket = atomicAdd(&window->next_ticket, 1U);
  for (;;) {
    if (leads) {
      ticket = next_ticket;
      const bool more = ticket < window->task_count;
      control(SLUICE_CONTROL_SLOT) = more ? tasks[ticket].slot : SLUICE_NONE;
      control(SLUICE_CONTROL_FIRST_BLOCK) = more ? tasks[ticket].first_block : 0;
      control(SLUICE_CONTROL_BLOCK_COUNT) = more ? tasks[ticket].block_count : 0;
    }
    __syncthreads();
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
    __syncthreads();
    run_blocks(slot, first_block, block_count);
    if (leads && window->stress != 0) stress(window->stress, ticket, 1);
    __syncthreads();
    if (leads) {
      release_task(window, slot, first_block);
      if (window->stress != 0) stress(window->stress, ticket, 2);
    }
  }
}
