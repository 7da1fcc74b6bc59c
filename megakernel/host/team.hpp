// The threads of an executor, and how they come to a window and leave it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "megakernel/host/parking.hpp"

namespace sluice::megakernel {

// Team has the calling thread as worker 0 and threads of its own as the others. Between windows
// they sleep.
class Team {
 public:
  // `work(worker)` is what each does in a window, until nothing is left that it could begin. It is
  // worker 0 who calls the others, in its work.
  Team(uint32_t workers, std::function<void(uint32_t worker)> work);
  ~Team();

  uint32_t size() const { return workers_; }

  // run() has the calling thread work, and returns when each that came has ended; the others come
  // no more. One call at a time.
  void run();

  // call() has the others come too, those that have ended as well.
  void call();

 private:
  void start();
  void thread_main(uint32_t worker);
  bool join();

  const uint32_t workers_;
  const std::function<void(uint32_t)> work_;
  std::vector<std::thread> threads_;  // of workers 1 and up, started by the first window
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint32_t> left_{0};
  std::atomic<bool> stopping_{false};
  Parking changed_;  // one of these
  std::mutex mutex_;
  bool open_ = false;       // workers may join; guarded by mutex_, as the next
  uint32_t joined_ = 0;     // workers other than the calling thread
  std::vector<int> taken_;  // processors of the workers that joined
};

}  // namespace sluice::megakernel
