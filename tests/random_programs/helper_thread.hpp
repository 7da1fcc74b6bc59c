// The second host thread of a program: it makes calls while the first waits for it, so that a
// program's calls have one order.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace sluice::random_programs {

class HelperThread {
 public:
  HelperThread() : thread_([this] { serve(); }) {}
  ~HelperThread() {
    call([this] { ending_ = true; });
    thread_.join();
  }
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;

  // call() runs `work` on the thread and returns when it is done; what it throws is thrown here.
  void call(const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return work_ == nullptr; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      try {
        (*work_)();
      } catch (...) {
        failure_ = std::current_exception();
      }
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  std::exception_ptr failure_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses what stands above
};

}  // namespace sluice::random_programs
