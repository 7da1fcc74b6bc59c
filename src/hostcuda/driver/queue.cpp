#include "hostcuda/driver/queue.hpp"

#include <exception>
#include <utility>

#include "base/log.hpp"
#include "hostcuda/driver/threads.hpp"

namespace sluice::hostcuda {
namespace {

thread_local bool is_dispatcher = false;

class FunctionWork final : public Work {
 public:
  explicit FunctionWork(std::function<void()> function) : function_(std::move(function)) {}
  CUresult run(BlockPool&) override {
    function_();
    return CUDA_SUCCESS;
  }

 private:
  std::function<void()> function_;
};

}  // namespace

Queue::Queue(unsigned workers) : pool_(workers) {}

bool Queue::on_dispatcher() {
  return is_dispatcher;
}

uint64_t Queue::submit(std::function<void()> work) {
  return submit(std::make_unique<FunctionWork>(std::move(work)));
}

uint64_t Queue::submit(std::unique_ptr<Work> work) {
  uint64_t ticket = 0;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (!dispatcher_started_) {
      start_daemon_thread("sluice-cuda", [this] { dispatch(); });
      dispatcher_started_ = true;
    }
    pending_.push_back(std::move(work));
    ticket = submitted_.load() + 1;
    submitted_.store(ticket);
    wake = std::exchange(dispatcher_sleeps_, false);
  }
  if (wake) work_arrived_.notify_one();
  return ticket;
}

void Queue::dispatch() {
  is_dispatcher = true;
  for (;;) {
    take_batch();
    for (std::unique_ptr<Work>& work : batch_) {
      run(*work);
      // What the work holds (code, staging memory) is gone before anyone hears that it is done.
      work.reset();
      publish_completion();
    }
    batch_.clear();
  }
}

void Queue::take_batch() {
  spin_until([&] { return submitted_.load() != completed_.load(); });
  std::unique_lock lock(mutex_);
  while (pending_.empty()) {
    dispatcher_sleeps_ = true;
    work_arrived_.wait(lock);
  }
  dispatcher_sleeps_ = false;
  batch_.swap(pending_);
}

void Queue::run(Work& work) {
  CUresult result = CUDA_ERROR_LAUNCH_FAILED;
  try {
    result = work.run(pool_);
  } catch (const std::exception& exception) {
    log::error("work of the device ended with an exception: {}", exception.what());
  } catch (...) {
    log::error("work of the device ended with an exception");
  }
  if (result != CUDA_SUCCESS) {
    CUresult none = CUDA_SUCCESS;
    error_.compare_exchange_strong(none, result);
  }
}

void Queue::publish_completion() {
  completed_.fetch_add(1);
  // A waiter counts itself before it looks at completed_ for the last time, so either it sees this
  // completion or it is seen here.
  if (waiters_.load() == 0) return;
  {
    const std::lock_guard lock(completion_mutex_);
  }
  work_completed_.notify_all();
}

CUresult Queue::wait(uint64_t ticket) {
  if (is_dispatcher && !is_done(ticket)) return CUDA_ERROR_NOT_PERMITTED;
  if (spin_until([&] { return is_done(ticket); })) return error();
  std::unique_lock lock(completion_mutex_);
  waiters_.fetch_add(1);
  work_completed_.wait(lock, [&] { return is_done(ticket); });
  waiters_.fetch_sub(1);
  return error();
}

}  // namespace sluice::hostcuda
