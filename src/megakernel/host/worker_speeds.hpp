// How fast each worker runs blocks, beside the others.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice::megakernel {

// WorkerSpeeds compares what tasks take with what their blocks usually cost, worker by worker.
// Processors are not equally fast for long stretches of time: one that shares its core with another
// process, or on a virtual machine with another machine, was seen at 0.7 of the other's speed.
class WorkerSpeeds {
 public:
  explicit WorkerSpeeds(uint32_t workers)
      : count_(workers), workers_(std::make_unique<Worker[]>(workers)) {}

  // wants_next() holds for one in so many tasks of a worker, whatever tickets they have: reading
  // the clock twice costs about as much as a small task's ticket. Called by that worker for each.
  bool wants_next(uint32_t worker) { return workers_[worker].tasks++ % measured_tasks == 0; }

  // note() takes a task that took `took` where its blocks usually cost `usual`. Called by that
  // worker. A task that lost its processor counts as a slow one only.
  void note(uint32_t worker, std::chrono::nanoseconds took, std::chrono::nanoseconds usual) {
    Worker& one = workers_[worker];
    one.took += std::min(took, most_of_usual * usual);
    one.usual += usual;
    ++one.notes;
  }

  // end_window() takes in what was noted, once every worker has noted enough to be compared. Called
  // while no worker is in a window.
  void end_window() {
    const bool enough = std::all_of(workers_.get(), workers_.get() + count_, [](const Worker& one) {
      return one.notes >= enough_notes && one.took.count() > 0;
    });
    if (!enough) return;
    for (uint32_t i = 0; i < count_; ++i) {
      Worker& one = workers_[i];
      const double seen = static_cast<double>(one.usual.count()) / one.took.count();
      one.speed.store((one.speed.load(std::memory_order_relaxed) + seen) / 2,
                      std::memory_order_relaxed);
      one.took = one.usual = {};
      one.notes = 0;
    }
  }

  // get() is one number for each worker, of which only the ratios mean anything; all alike while
  // nothing is known. Thread-safe.
  std::vector<double> get() const {
    std::vector<double> speeds(count_);
    for (uint32_t i = 0; i < count_; ++i)
      speeds[i] = workers_[i].speed.load(std::memory_order_relaxed);
    return speeds;
  }

 private:
  static constexpr uint32_t measured_tasks = 16;
  static constexpr uint32_t enough_notes = 8;
  static constexpr int most_of_usual = 4;

  struct alignas(64) Worker {
    uint32_t tasks = 0;
    uint32_t notes = 0;
    std::chrono::nanoseconds took{0};
    std::chrono::nanoseconds usual{0};
    std::atomic<double> speed{1};
  };

  uint32_t count_;
  std::unique_ptr<Worker[]> workers_;
};

}  // namespace sluice::megakernel
