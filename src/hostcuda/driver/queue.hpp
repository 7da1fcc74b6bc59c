// The one queue of the device.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "hostcuda/driver/block_pool.hpp"
#include "hostcuda/driver/cuda_api.hpp"

namespace sluice::hostcuda {

// Work is one thing for the device to do: a launch, a copy, a fill, a host function, an event.
class Work {
 public:
  virtual ~Work() = default;
  // run() is called once, on the dispatcher. What it returns other than success becomes the
  // device's error.
  virtual CUresult run(BlockPool& pool) = 0;
};

// Queue runs work strictly in the order in which it was submitted, whatever stream it was
// submitted to: an order that CUDA allows for any program, since streams promise no concurrency.
// A dispatcher thread takes work from it; it spins briefly, then sleeps. Work may itself submit
// work, which goes to the end of the queue. Thread-safe. A queue lives as long as the process.
class Queue {
 public:
  explicit Queue(unsigned workers);
  Queue(const Queue&) = delete;

  // submit() returns the ticket of the work: 1, 2, 3 ... in the order of execution.
  uint64_t submit(std::unique_ptr<Work> work);
  uint64_t submit(std::function<void()> work);

  // last_ticket() is the ticket of the work submitted last, 0 where there was none.
  uint64_t last_ticket() const { return submitted_.load(); }
  bool is_done(uint64_t ticket) const { return completed_.load() >= ticket; }

  // wait() returns when the work of that ticket and all before it is done: error(), or
  // CUDA_ERROR_NOT_PERMITTED where it is called from within work that is not done, which could
  // only wait for itself.
  CUresult wait(uint64_t ticket);

  // error() is the first error of any work, which stays until clear_error(): CUDA_SUCCESS where
  // there was none.
  CUresult error() const { return error_.load(); }
  void clear_error() { error_.store(CUDA_SUCCESS); }

  // on_dispatcher() says whether the calling thread is running work of a queue.
  static bool on_dispatcher();

 private:
  void dispatch();
  void take_batch();
  void run(Work& work);
  void publish_completion();

  BlockPool pool_;
  std::mutex mutex_;
  std::condition_variable work_arrived_;
  std::vector<std::unique_ptr<Work>> pending_;  // guarded by mutex_
  std::vector<std::unique_ptr<Work>> batch_;    // the dispatcher's
  bool dispatcher_started_ = false;             // guarded by mutex_
  bool dispatcher_sleeps_ = false;              // guarded by mutex_
  std::atomic<uint64_t> submitted_{0};
  std::atomic<uint64_t> completed_{0};
  std::atomic<CUresult> error_{CUDA_SUCCESS};

  std::mutex completion_mutex_;
  std::condition_variable work_completed_;
  std::atomic<uint32_t> waiters_{0};
};

}  // namespace sluice::hostcuda
