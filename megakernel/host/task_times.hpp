// When the tasks of a window ran, where somebody asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace sluice::megakernel {

// TaskTimes records one execution of a window. Times are nanoseconds of the steady clock. Each
// worker writes to a part of its own; read it when run() has returned.
class TaskTimes {
 public:
  // whole_launch stands for a master task where the worker waited for the master's last task,
  // whichever that was.
  static constexpr uint32_t whole_launch = UINT32_MAX;

  struct Run {
    uint32_t ticket = 0;
    int64_t taken = 0;  // the worker had the ticket, and began to look at the masters' flags
    int64_t begun = 0;  // all masters were done
    int64_t ended = 0;
  };
  // Delay says that the task of `ticket` had to wait for a task of another launch.
  struct Delay {
    uint32_t ticket = 0;
    uint32_t master_launch = 0;
    uint32_t master_task = 0;  // or whole_launch
  };

  class Worker {
   public:
    // take() returns the run's place in `runs`: a worker that waits may run another task meanwhile.
    size_t take(uint32_t ticket) {
      runs.push_back({ticket, now(), 0, 0});
      return runs.size() - 1;
    }
    void delay(uint32_t ticket, uint32_t master_launch, uint32_t master_task) {
      delays.push_back({ticket, master_launch, master_task});
    }
    void begin(size_t run) { runs[run].begun = now(); }
    void end(size_t run) { runs[run].ended = now(); }

    std::vector<Run> runs;
    std::vector<Delay> delays;

   private:
    static int64_t now() {
      return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    }
  };

  explicit TaskTimes(uint32_t count) : workers(count) {}

  std::vector<Worker> workers;  // by number of the worker
};

}  // namespace sluice::megakernel
