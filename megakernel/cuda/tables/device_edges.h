// Edges in device memory: how each form lies there, how the host writes it (make_device_tables())
// and how a worker of the scheduler kernel waits by it. A new form has all three here.
#ifndef SLUICE_MEGAKERNEL_DEVICE_EDGES_H
#define SLUICE_MEGAKERNEL_DEVICE_EDGES_H

#include <stdint.h>

#include "megakernel/cuda/tables/window_tables.h"
#include "megakernel/cuda/worker_memory.h"

/* SluiceNearWait: rows of blocks (runs with the same y and z) wait for runs of the master's blocks.
 * A row of the box, from x to X, waits for max(x + shift_first, master_first) .. min(X +
 * shift_last, master_last), both counted from y * master_width + z * master_area on. */
typedef struct SluiceNearWait {
  int32_t x_first, x_last; /* the box of those that wait */
  int32_t y_first, y_last;
  int32_t z_first, z_last;
  int32_t shift_first, shift_last;
  int32_t master_first, master_last;
  uint32_t master_width, master_area;
} SluiceNearWait;

/* SluiceRowsWait: block b waits for what rows[b] .. rows[b + 1] are places of in items. */
typedef struct SluiceRowsWait {
  uint64_t rows;  /* offset of u32 */
  uint64_t items; /* offset of u32[2]: runs of signals, last included */
  uint64_t
      expected; /* offset of u64, what the signals of each item hold at least. 0: all the same */
  uint64_t reserved[3];
} SluiceRowsWait;

/* SluiceWait is a part of what the tasks of a slot wait for: signals that hold at least `expected`.
 * Signals are flags of tasks, or one counter as its own master's only task. */
typedef struct SLUICE_TOGETHER SluiceWait {
  union {
    SluiceNearWait near_by;
    SluiceRowsWait by_rows;
  } how;
  SluiceReciprocal per_task; /* blocks per task of the master; factor 0: it is by_rows */
  uint64_t signals;          /* address of the first one */
  uint64_t expected;
} SluiceWait;

#ifdef __CUDACC__

namespace {

constexpr unsigned lanes = 32;
// By rows, lanes look at several tasks of each range at once.
constexpr unsigned lanes_of_range = 8;
// A master that is nearly done is found without sleeping; longer waits leave the memory system
// alone.
constexpr unsigned polls_awake = 32;
constexpr unsigned sleep_nanoseconds = 40;

// A look at a signal orders nothing: fence_gpu() does that once, behind the last one.
__device__ uint64_t load_signal(uint64_t place) {
  uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  return value;
}

__device__ void fence_gpu() {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

__device__ void sleep() {
  asm volatile("nanosleep.u32 %0;" ::"n"(sleep_nanoseconds));
}

__device__ uint32_t divide(uint32_t value, const SluiceReciprocal& by) {
  const uint64_t addend = (uint64_t{by.zero} << 32) | by.addend;
  return static_cast<uint32_t>((uint64_t{by.factor} * value + addend) >> 32) >> by.shift;
}

// The tables are known to lie in global memory: generic loads would look for that first.
template <class T>
__device__ const T* table_at(const SluiceWindow& window, uint64_t offset) {
  return static_cast<const T*>(__cvta_global_to_generic(window.tables + offset));
}

// Run is the blocks of a task. Rows are runs of blocks with the same y and z; they are numbered
// y + z * grid.y.
struct Run {
  uint32_t first_block, last_block;
  uint32_t first_row;
  int32_t first_x;
  uint32_t y, z;  // of the first row
};

__device__ Run run_of(const SluiceSlot& slot, uint32_t task) {
  Run run;
  run.first_block = task * slot.blocks_per_task;
  run.last_block = min(run.first_block + (slot.blocks_per_task - 1), slot.last_block);
  run.first_row = divide(run.first_block, slot.width);
  run.first_x = static_cast<int32_t>(run.first_block - run.first_row * slot.grid[0]);
  run.z = divide(run.first_row, slot.height);
  run.y = run.first_row - run.z * slot.grid[1];
  return run;
}

// Waiter is one lane of the warp that waits for what the blocks of a task wait for.
class Waiter {
 public:
  __device__ Waiter(const SluiceWindow& window, volatile uint32_t* stops, uint32_t ticket)
      : window_(window), stops_(stops), ticket_(ticket) {}

  // Where each lane has a wait at most, and the task one row, the lanes of a wait share out the
  // masters. Lanes without a wait of their own look at the last one too: at the same places as
  // others at the same time, which costs nothing.
  __device__ void await_simple(const SluiceSlot& slot, const SluiceWait* waits, const Run& run,
                               int32_t last_x) const {
    const uint32_t i = min(threadIdx.x & slot.lanes.mask, slot.wait_count - 1);
    await_row(waits[i], run.y, run.z, run.first_x, last_x, threadIdx.x >> slot.lanes.bits,
              slot.lanes.together);
  }

  // `waits` are some of the slot's. Lanes share them out, and what is left of the lanes the rows.
  __device__ void await(const SluiceSlot& slot, const SluiceWait* waits, uint32_t count,
                        const Run& run) const {
#pragma unroll 1
    for (uint32_t i = threadIdx.x & slot.lanes.mask; i < count; i += slot.lanes.mask + 1) {
      if (waits[i].per_task.factor == 0) {
        await_by_rows(slot, waits[i], run);
      } else {
        await_rows(slot, waits[i], run);
      }
    }
  }

 private:
  __device__ void await_rows(const SluiceSlot& slot, const SluiceWait& wait, const Run& run) const {
    const auto width = static_cast<int32_t>(slot.grid[0]);
    const uint32_t last_row = divide(run.last_block, slot.width);
    const auto last_x = static_cast<int32_t>(run.last_block - last_row * slot.grid[0]);
#pragma unroll 1
    for (uint32_t row = run.first_row + (threadIdx.x >> slot.lanes.bits); row <= last_row;
         row += slot.lanes.together) {
      const uint32_t z = divide(row, slot.height);
      await_row(wait, row - z * slot.grid[1], z, row == run.first_row ? run.first_x : 0,
                row == last_row ? last_x : width - 1, 0, 1);
    }
  }

  __device__ void await_row(const SluiceWait& wait, uint32_t y, uint32_t z, int32_t first_x,
                            int32_t last_x, uint32_t lane, uint32_t step) const {
    const SluiceNearWait& near_by = wait.how.near_by;
    const int32_t first = max(first_x + near_by.shift_first, near_by.master_first);
    const int32_t last = min(last_x + near_by.shift_last, near_by.master_last);
    const uint32_t start = near_by.master_width * y + near_by.master_area * z;
    const uint32_t last_task = divide(start + last, wait.per_task);
    uint32_t i = divide(start + first, wait.per_task) + lane;
    // One branch for all of it.
    const bool waits = (first <= last) & (first_x <= near_by.x_last) & (last_x >= near_by.x_first) &
                       is_in(y, near_by.y_first, near_by.y_last) &
                       is_in(z, near_by.z_first, near_by.z_last) & (i <= last_task);
    if (!waits) return;
#pragma unroll 1
    do {
      await_signal(wait.signals + 8 * uint64_t{i}, wait.expected);
      i += step;
    } while (i <= last_task);
  }

  __device__ static bool is_in(uint32_t value, int32_t first, int32_t last) {
    return (static_cast<int32_t>(value) >= first) & (static_cast<int32_t>(value) <= last);
  }

  __device__ void await_by_rows(const SluiceSlot& slot, const SluiceWait& wait,
                                const Run& run) const {
    const SluiceRowsWait& by_rows = wait.how.by_rows;
    const auto* rows = table_at<uint32_t>(window_, by_rows.rows);
    const auto* items = table_at<uint32_t>(window_, by_rows.items);
    const uint32_t end = rows[run.last_block + 1];
    const uint32_t lane = threadIdx.x >> slot.lanes.bits;
    // Both are powers of two.
    const uint32_t step = min(slot.lanes.together, lanes_of_range);
#pragma unroll 1
    for (uint32_t i = rows[run.first_block] + lane / step; i < end;
         i += slot.lanes.together / step) {
      const uint64_t expected =
          by_rows.expected == 0 ? wait.expected : table_at<uint64_t>(window_, by_rows.expected)[i];
#pragma unroll 1
      for (uint32_t t = items[2 * i] + lane % step; t <= items[2 * i + 1]; t += step)
        await_signal(wait.signals + 8 * uint64_t{t}, expected);
    }
  }

  __device__ void await_signal(uint64_t signal, uint64_t expected) const {
    if (load_signal(signal) >= expected) return;
#pragma unroll 1
    for (unsigned polls = 0; load_signal(signal) < expected; ++polls) {
      if (polls < polls_awake) continue;
      sleep();
      if (polls == window_.most_polls) return give_up(signal, expected);
    }
  }

  // Nothing may run on what is not there: the worker stops, and the kernel ends with an error that
  // the program sees.
  __device__ void give_up(uint64_t signal, uint64_t expected) const {
    *stops_ = SLUICE_NONE;
    if (atomicExch(&reinterpret_cast<SluiceTickets*>(window_.tables)->given_up, 1U) != 0) return;
    volatile SluiceReport* report = reinterpret_cast<SluiceReport*>(window_.report);
    const bool is_counter = signal - window_.counters < window_.counter_bytes;
    report->ticket = ticket_;
    report->is_counter = is_counter ? 1 : 0;
    report->number = static_cast<uint32_t>(
        (signal - (is_counter ? window_.counters : window_.flags)) / sizeof(uint64_t));
    report->expected = expected;
    report->found = load_signal(signal);
    __threadfence_system();
    report->waited_in_vain = 1;
    __threadfence_system();
    asm volatile("trap;");
  }

  const SluiceWindow& window_;
  volatile uint32_t* stops_;  // of the worker: SLUICE_NONE there stops it
  const uint32_t ticket_;
};

}  // namespace

#else

#include <algorithm>
#include <bit>
#include <limits>

#include "dro/edges/edge_table.hpp"
#include "schedule/plan.hpp"
#include "schedule/task_edges.hpp"

namespace sluice::megakernel {

// reciprocal_of() divides by `divisor`, which is not 0. Its error is less than one in 2^32 either
// rounded up, or rounded down with the addend: one of both always is (Robison, ARITH 2005).
inline SluiceReciprocal reciprocal_of(uint32_t divisor) {
  const auto shift = static_cast<uint32_t>(std::bit_width(divisor) - 1);
  if (std::has_single_bit(divisor)) return {UINT32_MAX, shift, UINT32_MAX, 0};
  const uint64_t scaled = uint64_t{1} << (32 + shift);
  const auto down = static_cast<uint32_t>(scaled / divisor);
  if (scaled % divisor <= uint64_t{1} << shift) return {down, shift, down, 0};
  return {down + 1, shift, 0, 0};
}

// What waits, whatever it waits for: a box of the slave's grid.
inline SluiceNearWait waiting_box(const dro::BlockBox& box) {
  SluiceNearWait wait = {};
  wait.x_first = static_cast<int32_t>(box.first_x);
  wait.x_last = static_cast<int32_t>(box.last_x);
  wait.y_first = static_cast<int32_t>(box.first_y);
  wait.y_last = static_cast<int32_t>(box.last_y);
  wait.z_first = static_cast<int32_t>(box.first_z);
  wait.z_last = static_cast<int32_t>(box.last_z);
  return wait;
}

// A wait of all of a box for the same signals: those of the tasks `first` .. `last`.
inline SluiceWait same_wait(const dro::BlockBox& box, uint32_t first, uint32_t last) {
  SluiceWait wait = {};
  wait.how.near_by = waiting_box(box);
  wait.how.near_by.shift_first = std::numeric_limits<int32_t>::min();
  wait.how.near_by.shift_last = wait.how.near_by.master_last = static_cast<int32_t>(last);
  wait.how.near_by.master_first = static_cast<int32_t>(first);
  wait.per_task = reciprocal_of(1);
  return wait;
}

// narrow() leaves of first .. last what lies in the master's run after a shift; false for nothing.
inline bool narrow(int32_t& first, int32_t& last, int32_t shift, uint32_t master_first,
                   uint32_t master_last) {
  first = static_cast<int32_t>(std::max<int64_t>(first, int64_t{master_first} - shift));
  last = static_cast<int32_t>(std::min<int64_t>(last, int64_t{master_last} - shift));
  return first <= last;
}

// write_edges() adds the waits of one dependence. `tables` writes the window:
//   wait_for_tasks(from, wait)          one for tasks of the master
//   wait_for_launch(from, wait)         one for the whole master, by a counter
//   wait_for_groups(from, edges, wait)  one for groups of tasks by counters; false for no groups
//   once(values), anew(values)          the offset of these values; once for all dependences, or
//                                       made for this one
template <class Tables>
void write_edges(const dro::AllEdges& edges, const schedule::Dependence& from, Tables& tables) {
  const dro::BlockBox& slaves = edges.boxes.slave;
  if (schedule::is_whole_launch(*from.edges)) {
    return tables.wait_for_launch(from, same_wait(slaves, 0, 0));
  }
  const uint32_t per_task = tables.blocks_per_task(from.master);
  const auto add = [&](uint32_t first, uint32_t last) {
    tables.wait_for_tasks(from, same_wait(slaves, first, last));
  };
  dro::RangeMerger merger(add);
  const dro::BlockBox& box = edges.boxes.master;
  for (uint32_t z = box.first_z; z <= box.last_z; ++z) {
    for (uint32_t y = box.first_y; y <= box.last_y; ++y) {
      merger.add(dro::linear_block(from.edges->master_grid, box.first_x, y, z) / per_task,
                 dro::linear_block(from.edges->master_grid, box.last_x, y, z) / per_task);
    }
  }
  merger.finish();
}

// Offsets of one row that follow each other are one wait.
template <class Tables>
void write_edges(const dro::NeighbourEdges& edges, const schedule::Dependence& from,
                 Tables& tables) {
  const dro::BlockBox &masters = edges.boxes.master, &slaves = edges.boxes.slave;
  const Dim3& grid = from.edges->master_grid;
  for (size_t i = 0; i < edges.offsets.size();) {
    const dro::BlockOffset first = edges.offsets[i];
    dro::BlockOffset last = first;
    for (++i; i < edges.offsets.size(); ++i) {
      if (edges.offsets[i] != dro::BlockOffset{last.x + 1, last.y, last.z}) break;
      last = edges.offsets[i];
    }
    SluiceWait wait = {};
    SluiceNearWait& near_by = wait.how.near_by = waiting_box(slaves);
    // Where the masters of row 0 begin: of all blocks, so many fit the 31 bits.
    const auto start = static_cast<int32_t>(grid.x * (first.y + grid.y * first.z));
    const int32_t first_x = std::max(near_by.x_first + first.x, static_cast<int>(masters.first_x));
    const int32_t last_x = std::min(near_by.x_last + last.x, static_cast<int>(masters.last_x));
    near_by.shift_first = first.x + start;
    near_by.shift_last = last.x + start;
    near_by.master_first = first_x + start;
    near_by.master_last = last_x + start;
    near_by.master_width = grid.x;
    near_by.master_area = grid.x * grid.y;
    wait.per_task = reciprocal_of(tables.blocks_per_task(from.master));
    if (near_by.master_first > near_by.master_last ||
        !narrow(near_by.y_first, near_by.y_last, first.y, masters.first_y, masters.last_y) ||
        !narrow(near_by.z_first, near_by.z_last, first.z, masters.first_z, masters.last_z)) {
      continue;
    }
    tables.wait_for_tasks(from, wait);
  }
}

template <class Tables>
void write_rows(const dro::RangeEdges& edges, uint64_t rows, const schedule::Dependence& from,
                Tables& tables) {
  SluiceWait wait = {};
  wait.how.by_rows.rows = rows;
  if (tables.wait_for_groups(from, edges, wait)) return;
  const uint32_t per_task = tables.blocks_per_task(from.master);
  std::vector<schedule::TaskRange> runs;
  runs.reserve(edges.ranges.size());
  for (const dro::BlockRange& range : edges.ranges)
    runs.push_back({range.first / per_task, range.last / per_task});
  wait.how.by_rows.items = tables.anew(runs);
  tables.wait_for_tasks(from, wait);
}

// A device's workers read strides as the rows that they stand for.
template <class Tables>
void write_edges(const dro::StridedEdges& edges, const schedule::Dependence& from, Tables& tables) {
  const dro::RangeEdges rows = edges.rows(from.edges->slave_grid.count());
  write_rows(rows, tables.anew(rows.rows), from, tables);
}

template <class Tables>
void write_edges(const dro::RangeEdges& edges, const schedule::Dependence& from, Tables& tables) {
  write_rows(edges, tables.once(edges.rows), from, tables);
}

}  // namespace sluice::megakernel

#endif

#endif
