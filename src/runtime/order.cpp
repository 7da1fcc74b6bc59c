#include "runtime/order.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace sluice::runtime {
namespace {

using megakernel::LaunchSlot;
using megakernel::SlotDependence;
using megakernel::Task;
using megakernel::Window;

// A slave that far behind leaves nothing to be shared with the end of its master's sweep.
constexpr double longest_lag = 0.75;

uint32_t task_count(const LaunchSlot& slot) {
  return static_cast<uint32_t>((uint64_t{slot.block_count} + slot.blocks_per_task - 1) /
                               slot.blocks_per_task);
}

std::span<const SlotDependence> dependences_of(const Window& window, const LaunchSlot& slot) {
  return std::span(window.dependences).subspan(slot.first_dependence, slot.dependence_count);
}

const TaskNeeds& needs_of(const Window& window, const SlotDependence& dependence,
                          const LaunchSlot& slave, TaskNeedsCache& needs) {
  return needs.find(*dependence.edges, window.slots[dependence.master_slot].blocks_per_task,
                    slave.blocks_per_task);
}

// BandFinder grows one band at a time.
class BandFinder {
 public:
  BandFinder(const Window& window, std::span<const std::span<const TouchedBuffer>> touched,
             const OrderLimits& limits, TaskNeedsCache& needs)
      : window_(window),
        touched_(touched),
        limits_(limits),
        needs_(needs),
        lags_(window.slots.size()) {}

  std::vector<Band> find() {
    std::vector<Band> bands;
    const auto slots = static_cast<uint32_t>(window_.slots.size());
    for (uint32_t first = 0; first < slots;) {
      begin(first);
      uint32_t end = first + 1;
      while (end < slots && take(end)) {
        ++end;
      }
      bands.push_back({first, end, (limits_.workers + end - first - 1) / (end - first)});
      first = end;
    }
    return bands;
  }

 private:
  void begin(uint32_t slot) {
    first_ = slot;
    longest_ = 0;
    bytes_ = 0;
    buffers_.clear();
    add_buffers(slot);
    lags_[slot] = 0;
  }

  bool take(uint32_t slot) {
    if (slot - first_ >= limits_.most_launches) return false;
    const double lag = std::max(longest_, lag_of(slot));
    if (lag > longest_lag) return false;
    const size_t known = buffers_.size();
    const uint64_t before = bytes_;
    add_buffers(slot);
    if (lag * static_cast<double>(bytes_) > static_cast<double>(limits_.cache_bytes)) {
      buffers_.resize(known);
      bytes_ = before;
      return false;
    }
    lags_[slot] = lag_of(slot);
    longest_ = lag;
    return true;
  }

  // The lag behind the band's first sweep: behind each master of the band by what the edges ask,
  // and one task of slack.
  double lag_of(uint32_t slot) {
    const LaunchSlot& slave = window_.slots[slot];
    double lag = 0;
    for (const SlotDependence& dependence : dependences_of(window_, slave)) {
      if (dependence.master_slot < first_) continue;
      const LaunchSlot& master = window_.slots[dependence.master_slot];
      const double slack = 1.0 / task_count(master);
      lag = std::max(lag, lags_[dependence.master_slot] + slack +
                              needs_of(window_, dependence, slave, needs_).lag);
    }
    return lag;
  }

  void add_buffers(uint32_t slot) {
    for (const TouchedBuffer& touched : touched_[slot]) {
      if (std::find(buffers_.begin(), buffers_.end(), touched.buffer) != buffers_.end()) continue;
      buffers_.push_back(touched.buffer);
      bytes_ += touched.bytes;
    }
  }

  const Window& window_;
  std::span<const std::span<const TouchedBuffer>> touched_;
  const OrderLimits& limits_;
  TaskNeedsCache& needs_;
  std::vector<double> lags_;  // by slot, behind the first sweep of its band
  uint32_t first_ = 0;
  double longest_ = 0;
  uint64_t bytes_ = 0;
  std::vector<dro::BufferId> buffers_;
};

// Sweeper emits the tasks of one band. Tasks of a launch come in the order of their blocks, so
// "the masters of this task have been emitted" is one comparison for each dependence.
class Sweeper {
 public:
  Sweeper(Window& window, const Band& band, TaskNeedsCache& needs) : window_(window) {
    sweeps_.reserve(band.end - band.first);
    for (uint32_t slot = band.first; slot < band.end; ++slot) {
      const LaunchSlot& launch = window.slots[slot];
      Sweep sweep{slot, 0, task_count(launch), gates_.size(), 0};
      for (const SlotDependence& dependence : dependences_of(window, launch)) {
        if (dependence.master_slot < band.first) continue;  // all of it has been emitted
        gates_.push_back({dependence.master_slot - band.first,
                          needs_of(window, dependence, launch, needs).prefix.data()});
      }
      sweep.gate_count = gates_.size() - sweep.first_gate;
      sweeps_.push_back(sweep);
      rounds_ = std::max<uint64_t>(rounds_, sweep.tasks);
    }
    slack_ = band.slack;
  }

  void run() {
    // The earliest sweep that has not ended is never held back by its masters, so all end.
    size_t first = 0;
    for (uint64_t round = 1; first < sweeps_.size(); ++round) {
      for (size_t i = first; i < sweeps_.size(); ++i) {
        advance(sweeps_[i], round);
      }
      while (first < sweeps_.size() && sweeps_[first].ended()) {
        ++first;
      }
    }
  }

 private:
  // Gate: the sweep may not emit its next task before its master has emitted so many.
  struct Gate {
    uint32_t master = 0;  // place in sweeps_
    const uint32_t* prefix = nullptr;
  };
  struct Sweep {
    uint32_t slot = 0;
    uint32_t next = 0;
    uint32_t tasks = 0;
    size_t first_gate = 0;
    size_t gate_count = 0;
    bool ended() const { return next == tasks; }
  };

  void emit(Sweep& sweep) {
    const LaunchSlot& launch = window_.slots[sweep.slot];
    const uint32_t first = sweep.next * launch.blocks_per_task;
    window_.tasks.push_back(
        {sweep.slot, first, std::min(launch.blocks_per_task, launch.block_count - first)});
    ++sweep.next;
  }

  // advance() lets a sweep go on as far as its masters allow, but no faster than the longest sweep
  // of the band passes over its launch: only sweeps of the same region share the cache.
  void advance(Sweep& sweep, uint64_t round) {
    const uint64_t pace = (sweep.tasks + rounds_ - 1) / rounds_;
    for (uint64_t i = 0; i < pace; ++i) {
      if (sweep.ended() || uint64_t{sweep.next} * rounds_ >= round * sweep.tasks) return;
      if (!open(sweep)) return;
      emit(sweep);
    }
  }

  bool open(const Sweep& sweep) const {
    for (size_t i = sweep.first_gate; i < sweep.first_gate + sweep.gate_count; ++i) {
      const Sweep& master = sweeps_[gates_[i].master];
      const uint32_t needed = gates_[i].prefix[sweep.next];
      if (needed != 0 && master.next < std::min(master.tasks, needed + slack_)) return false;
    }
    return true;
  }

  Window& window_;
  uint32_t slack_ = 1;
  uint64_t rounds_ = 1;  // of a sweep that nothing holds back
  std::vector<Sweep> sweeps_;
  std::vector<Gate> gates_;
};

}  // namespace

std::vector<Band> find_bands(const Window& window,
                             std::span<const std::span<const TouchedBuffer>> touched,
                             const OrderLimits& limits, TaskNeedsCache& needs) {
  SLUICE_ASSERT(touched.size() == window.slots.size());
  return BandFinder(window, touched, limits, needs).find();
}

void order_tasks(Window& window, std::span<const Band> bands, TaskNeedsCache& needs) {
  window.tasks.reserve(window.flag_count);
  for (const Band& band : bands) {
    Sweeper(window, band, needs).run();
  }
}

void make_lanes(Window& window, uint32_t workers) {
  std::vector<std::vector<uint32_t>> lanes(workers);
  for (uint32_t ticket = 0; ticket < window.tasks.size(); ++ticket) {
    const Task& task = window.tasks[ticket];
    const LaunchSlot& slot = window.slots[task.slot];
    const uint64_t place = task.first_block / slot.blocks_per_task;
    lanes[place * workers / task_count(slot)].push_back(ticket);
  }
  window.lane_tasks.reserve(window.tasks.size());
  for (const std::vector<uint32_t>& lane : lanes) {
    window.lane_tasks.insert(window.lane_tasks.end(), lane.begin(), lane.end());
    window.lane_ends.push_back(static_cast<uint32_t>(window.lane_tasks.size()));
  }
}

}  // namespace sluice::runtime
