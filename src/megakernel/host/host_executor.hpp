// The megakernel on CPU threads: workers take tickets, wait for flags, run blocks, release flags.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "megakernel/host/crowd.hpp"
#include "megakernel/layout.hpp"

namespace sluice::megakernel {

class TaskTimes;

// HostExecutor owns the workers. Waiting workers spin for at most 50 microseconds, then sleep;
// between windows they take no CPU time. Where they lose their processors to other processes, so
// that they mostly wait for each other, the calling thread goes on alone (crew.hpp).
class HostExecutor {
 public:
  struct Config {
    uint32_t workers = 0;  // 0: one for each processor this process may run on
    Config& set_workers(uint32_t count) {
      workers = count;
      return *this;
    }
    // For tests: from when this ticket or a later one is taken, the calling thread is alone.
    uint32_t alone_from_ticket = UINT32_MAX;
    Config& set_alone_from_ticket(uint32_t ticket) {
      alone_from_ticket = ticket;
      return *this;
    }
    // For tests: the calling thread is not left alone, however workers fare.
    bool keeps_all_workers = false;
    Config& set_keeps_all_workers() {
      keeps_all_workers = true;
      return *this;
    }
    // For tests: what says whether others want the processors.
    bool (*others_want_processors)(uint32_t own) = megakernel::others_want_processors;
    Config& set_others_want_processors(bool (*says)(uint32_t own)) {
      others_want_processors = says;
      return *this;
    }
    // For tests: how long the other workers are held back where others want the processors.
    std::chrono::nanoseconds most_held_back = std::chrono::milliseconds(1);
    Config& set_most_held_back(std::chrono::nanoseconds time) {
      most_held_back = time;
      return *this;
    }
  };

  explicit HostExecutor(const Config& config);
  ~HostExecutor();

  uint32_t workers() const;

  // speeds() says how fast the workers are beside each other, by the windows they have run; one
  // number for each, of which only the ratios mean anything. Thread-safe, also beside run().
  std::vector<double> speeds() const;

  // run() executes the window and returns when its last block is done; the calling thread works
  // too. One call at a time. Flags hold the epoch of the window that last set them, so nothing is
  // cleared between windows. What a block throws ends the window early (tasks not yet begun are
  // left out) and is thrown here. `times`, made for workers() workers, is told when each task ran;
  // null costs nothing.
  void run(const Window& window, TaskTimes* times = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::megakernel
