#include "runtime/order.hpp"

#include <algorithm>

#include "base/divide_up.hpp"
#include "runtime/band_parts.hpp"

namespace sluice::runtime {
namespace {

using megakernel::LaunchSlot;
using megakernel::SlotDependence;
using megakernel::Task;
using megakernel::task_count;
using megakernel::Window;

// The tickets of each worker.
using LaneTickets = std::vector<std::vector<uint32_t>>;

void set_lanes(Window& window, const LaneTickets& lanes) {
  window.lane_tasks.reserve(window.tasks.size());
  for (const std::vector<uint32_t>& lane : lanes) {
    window.lane_tasks.insert(window.lane_tasks.end(), lane.begin(), lane.end());
    window.lane_ends.push_back(static_cast<uint32_t>(window.lane_tasks.size()));
  }
}

void emit(Window& window, uint32_t slot, uint32_t task) {
  const LaunchSlot& launch = window.slots[slot];
  const uint32_t first = task * launch.blocks_per_task;
  window.tasks.push_back(
      {slot, first, std::min(launch.blocks_per_task, launch.block_count - first)});
}

// Sweeper emits the tasks of one band. Tasks of a launch come in the order of their blocks, part by
// part, so "the masters of this task have been emitted" is one comparison for each dependence, or
// two where they reach into the part behind.
class Sweeper {
 public:
  Sweeper(Window& window, const Band& band, std::span<const double> speeds, TaskNeedsCache& needs,
          LaneTickets& lanes)
      : window_(window), band_(band), lanes_(lanes), rounds_(band.parts, 1) {
    const PartStarts parts = share_out(window, band, speeds, needs);
    sweeps_.reserve(band.end - band.first);
    stretches_.reserve(size_t{band.end - band.first} * band.parts);
    for (uint32_t slot = band.first; slot < band.end; ++slot) {
      const LaunchSlot& launch = window.slots[slot];
      Sweep sweep{slot, task_count(launch), gates_.size(), 0};
      for (const SlotDependence& dependence : dependences_of(window, launch)) {
        if (dependence.master_slot < band.first) continue;  // all of it has been emitted
        gates_.push_back({dependence.master_slot - band.first,
                          needs_of(window, dependence, launch, band.is_backward, needs)});
      }
      sweep.gate_count = gates_.size() - sweep.first_gate;
      sweeps_.push_back(sweep);
      for (uint32_t part = 0; part < band.parts; ++part) {
        const uint32_t begin = parts.starts(slot)[part];
        const uint32_t end = part + 1 < band.parts ? parts.starts(slot)[part + 1] : sweep.tasks;
        stretches_.push_back({begin, end, begin});
        rounds_[part] = std::max<uint64_t>(rounds_[part], end - begin);
      }
    }
  }

  // The last part needs nothing of the others, and its earliest sweep that has not ended is never
  // held back by its masters; nor is then that of the part before it: so all end.
  void run() {
    std::vector<size_t> first(band_.parts, 0);  // sweep that has not ended, by part
    size_t parts_left = band_.parts;
    for (uint64_t round = 1; parts_left > 0; ++round) {
      for (uint32_t part = band_.parts; part-- > 0;) {
        if (first[part] == sweeps_.size()) continue;
        for (size_t i = first[part]; i < sweeps_.size(); ++i)
          advance(i, part, round);
        while (first[part] < sweeps_.size() && stretch(first[part], part).ended())
          ++first[part];
        if (first[part] == sweeps_.size()) --parts_left;
      }
    }
  }

 private:
  // Gate: the sweep may not emit its next task before its master has emitted so much.
  struct Gate {
    size_t master = 0;  // place in sweeps_
    SweptNeeds needs;
  };
  struct Sweep {
    uint32_t slot = 0;
    uint32_t tasks = 0;
    size_t first_gate = 0;
    size_t gate_count = 0;
  };
  // Stretch is a part of a sweep, in positions.
  struct Stretch {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t next = 0;
    bool ended() const { return next == end; }
  };

  Stretch& stretch(size_t sweep, uint32_t part) { return stretches_[sweep * band_.parts + part]; }

  void take(const Sweep& sweep, Stretch& stretch, uint32_t part) {
    if (band_.parts > 1) {
      const uint32_t worker = band_.is_backward ? band_.parts - 1 - part : part;
      lanes_[worker].push_back(static_cast<uint32_t>(window_.tasks.size()));
    }
    emit(window_, sweep.slot, band_.is_backward ? sweep.tasks - 1 - stretch.next : stretch.next);
    ++stretch.next;
  }

  // advance() lets a sweep go on as far as its masters allow, but no faster than the longest sweep
  // of the band passes over its launch: only sweeps of the same region share the cache.
  void advance(size_t place, uint32_t part, uint64_t round) {
    Stretch& own = stretch(place, part);
    const uint64_t rounds = rounds_[part];
    const uint64_t length = own.end - own.begin;
    const uint64_t pace = divide_up(length, rounds);
    for (uint64_t i = 0; i < pace; ++i) {
      if (own.ended() || (own.next - own.begin) * rounds >= round * length) return;
      if (!open(sweeps_[place], own.next, part)) return;
      take(sweeps_[place], own, part);
    }
  }

  bool open(const Sweep& sweep, uint32_t position, uint32_t part) {
    for (size_t i = sweep.first_gate; i < sweep.first_gate + sweep.gate_count; ++i) {
      const Gate& gate = gates_[i];
      uint32_t needed = gate.needs.before(position);
      if (needed == 0) continue;
      needed = std::min(sweeps_[gate.master].tasks, needed + band_.slack);
      for (uint32_t other = part; other < band_.parts; ++other) {
        const Stretch& master = stretch(gate.master, other);
        if (master.next < std::min(needed, master.end)) return false;
        if (needed <= master.end) break;
      }
    }
    return true;
  }

  Window& window_;
  const Band& band_;
  LaneTickets& lanes_;
  std::vector<uint64_t> rounds_;  // of a part's longest stretch, which nothing holds back
  std::vector<Sweep> sweeps_;
  std::vector<Stretch> stretches_;  // by sweep, and by part in it
  std::vector<Gate> gates_;
};

}  // namespace

void order_tasks(Window& window, std::span<const Band> bands, std::span<const double> speeds,
                 TaskNeedsCache& needs) {
  window.tasks.reserve(window.flag_count);
  LaneTickets lanes(bands.empty() ? 1 : bands.front().parts);
  for (const Band& band : bands)
    Sweeper(window, band, speeds, needs, lanes).run();
  if (lanes.size() > 1) set_lanes(window, lanes);
}

void order_in_lanes(Window& window, std::span<const LaneCut* const> cuts) {
  window.tasks.reserve(window.flag_count);
  LaneTickets lanes(cuts.front()->lane_ends.size());
  for (uint32_t slot = 0; slot < window.slots.size(); ++slot) {
    uint32_t task = 0;
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      for (; task < cuts[slot]->lane_ends[lane]; ++task) {
        lanes[lane].push_back(static_cast<uint32_t>(window.tasks.size()));
        emit(window, slot, task);
      }
    }
  }
  set_lanes(window, lanes);
}

}  // namespace sluice::runtime
