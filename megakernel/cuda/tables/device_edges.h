// Edges in device memory: how each form lies there, how the host writes it (make_device_tables())
// and how a worker of the scheduler kernel waits by it. A new form has all three here.
#ifndef SLUICE_MEGAKERNEL_DEVICE_EDGES_H
#define SLUICE_MEGAKERNEL_DEVICE_EDGES_H

#include <stdint.h>

#include "megakernel/cuda/tables/window_tables.h"

/* How a task finds what it waits for. */
enum SluiceDependenceKind {
  SLUICE_WAIT_NEIGHBOURS, /* items are offsets of blocks, i32[3] each */
  SLUICE_WAIT_BOX,        /* every block of master_box */
  SLUICE_WAIT_RANGES,     /* rows[b] .. rows[b + 1] are places in items: u32[2], last included */
  SLUICE_WAIT_COUNTER,    /* the whole launch: one counter reaches a target */
  SLUICE_WAIT_GROUPS /* rows[b] .. rows[b + 1] are places in items: u64[2], counter and target */
};

typedef struct SluiceBox {
  uint32_t first[3];
  uint32_t last[3];
} SluiceBox;

/* SluiceDependence is what one slot waits for of an earlier one. */
typedef struct SluiceDependence {
  uint32_t kind;
  uint32_t master_first_flag;
  uint32_t master_blocks_per_task;
  uint32_t counter;        /* counter: its number */
  uint64_t counter_target; /* counter */
  uint32_t master_grid[3];
  uint32_t slave_grid[3];
  SluiceBox master_box; /* neighbours, box */
  SluiceBox slave_box;  /* neighbours, box, counter: only these blocks wait */
  uint32_t item_count;  /* neighbours */
  uint32_t reserved;
  uint64_t items; /* offset */
  uint64_t rows;  /* offset */
} SluiceDependence;

#ifdef __CUDACC__

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

__device__ void sleep() {
  asm volatile("nanosleep.u32 %0;" ::"n"(sleep_nanoseconds));
}

// Waiter is one lane of the warp that waits for a task's masters.
class Waiter {
 public:
  __device__ Waiter(SluiceWindow* window, volatile uint32_t* stops, uint32_t ticket, unsigned lane)
      : window_(window),
        stops_(stops),
        ticket_(ticket),
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
        if (!pause(polls, false, d.master_first_flag + task, epoch_)) return;
      }
    }
  }

  __device__ void await_counter(uint32_t counter, uint64_t target) const {
    for (unsigned polls = 0; load_acquire(counters_ + counter) < target; ++polls) {
      if (!pause(polls, true, counter, target)) return;
    }
  }

  // pause() is false where the lane has looked too often.
  __device__ bool pause(unsigned polls, bool is_counter, uint32_t number, uint64_t expected) const {
    if (polls < polls_awake) return true;
    sleep();
    if (polls != window_->most_polls) return true;
    give_up(is_counter, number, expected);
    return false;
  }

  // Nothing may run on what is not there: the worker stops, and the kernel ends with an error that
  // the program sees.
  __device__ void give_up(bool is_counter, uint32_t number, uint64_t expected) const {
    *stops_ = 1;
    if (atomicExch(&window_->given_up, 1U) != 0) return;
    volatile SluiceReport* report = window_->report;
    report->ticket = ticket_;
    report->is_counter = is_counter ? 1 : 0;
    report->number = number;
    report->expected = expected;
    report->found = load_acquire((is_counter ? counters_ : flags_) + number);
    __threadfence_system();
    report->waited_in_vain = 1;
    __threadfence_system();
    asm volatile("trap;");
  }

  SluiceWindow* window_;
  volatile uint32_t* stops_;  // of the worker
  const uint32_t ticket_;
  const unsigned char* base_;
  const uint64_t* flags_;
  const uint64_t* counters_;
  const uint64_t epoch_;
  const unsigned lane_;
};

}  // namespace

#else

#include "dro/edges/edge_table.hpp"
#include "schedule/plan.hpp"
#include "schedule/task_edges.hpp"

namespace sluice::megakernel {

inline void write_boxes(const dro::BoxPair& boxes, SluiceDependence& d) {
  const auto write = [](const dro::BlockBox& from, SluiceBox& to) {
    to = {{from.first_x, from.first_y, from.first_z}, {from.last_x, from.last_y, from.last_z}};
  };
  write(boxes.master, d.master_box);
  write(boxes.slave, d.slave_box);
}

// write_edges() fills in what is particular to a form. `tables` writes the window:
//   once(values)                  the offset of these values, written once for all dependences
//   anew(values)                  the same of values that are made for this dependence
//   wait_for_counter(d, from)     lets `d` wait for a counter of the whole master launch
//   wait_for_groups(d, from, ..)  lets it wait for counters of groups of tasks, where there are any
template <class Tables>
void write_edges(const dro::AllEdges& edges, const schedule::Dependence& from, SluiceDependence& d,
                 Tables& tables) {
  d.kind = SLUICE_WAIT_BOX;
  write_boxes(edges.boxes, d);
  if (schedule::is_whole_launch(*from.edges)) tables.wait_for_counter(d, from);
}

template <class Tables>
void write_edges(const dro::NeighbourEdges& edges, const schedule::Dependence&, SluiceDependence& d,
                 Tables& tables) {
  d.kind = SLUICE_WAIT_NEIGHBOURS;
  write_boxes(edges.boxes, d);
  d.item_count = static_cast<uint32_t>(edges.offsets.size());
  d.items = tables.once(edges.offsets);
}

// A device's workers read strides as the rows that they stand for.
template <class Tables>
void write_edges(const dro::StridedEdges& edges, const schedule::Dependence& from,
                 SluiceDependence& d, Tables& tables) {
  const dro::RangeEdges rows = edges.rows(from.edges->slave_grid.count());
  d.kind = SLUICE_WAIT_RANGES;
  d.rows = tables.anew(rows.rows);
  d.items = tables.anew(rows.ranges);
  tables.wait_for_groups(d, from, rows);
}

template <class Tables>
void write_edges(const dro::RangeEdges& edges, const schedule::Dependence& from,
                 SluiceDependence& d, Tables& tables) {
  d.kind = SLUICE_WAIT_RANGES;
  d.rows = tables.once(edges.rows);
  d.items = tables.once(edges.ranges);
  tables.wait_for_groups(d, from, edges);
}

}  // namespace sluice::megakernel

#endif

#endif
