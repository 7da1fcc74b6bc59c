// Executors for windows of several streams at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "megakernel/host/host_executor.hpp"
#include "megakernel/host/processor_share.hpp"

namespace sluice::runtime {

// ExecutorPool lends one executor with all workers; while it is lent, others that run a window on
// the calling thread alone, as many as there are workers. A further call waits. Thread-safe.
class ExecutorPool {
 public:
  explicit ExecutorPool(uint32_t workers) : main_(workers, &starvation_) {}

  uint32_t workers() const { return main_.workers(); }

  // run() runs the window on an executor of its own. Where `times` is not null, made for workers()
  // workers, it waits for the one with all workers.
  void run(const megakernel::Window& window, megakernel::TaskTimes* times = nullptr);

 private:
  megakernel::HostExecutor* borrow(bool only_main);
  void give_back(megakernel::HostExecutor* executor);

  std::mutex mutex_;  // guards what follows
  std::condition_variable given_back_;
  megakernel::Starvation starvation_{std::chrono::steady_clock::now, megakernel::ContentionWatch()};
  megakernel::HostExecutor main_;
  bool main_is_lent_ = false;
  std::vector<std::unique_ptr<megakernel::HostExecutor>> spare_;
  std::vector<megakernel::HostExecutor*> free_;  // of spare_
};

}  // namespace sluice::runtime
