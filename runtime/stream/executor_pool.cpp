#include "runtime/stream/executor_pool.hpp"

namespace sluice::runtime {

using megakernel::HostExecutor;

void ExecutorPool::run(const megakernel::Window& window, megakernel::TaskTimes* times) {
  // The executor goes back however the window ends.
  const auto back = [this](HostExecutor* executor) { give_back(executor); };
  const std::unique_ptr<HostExecutor, decltype(back)> executor(borrow(times != nullptr), back);
  executor->run(window, times);
}

HostExecutor* ExecutorPool::borrow(bool only_main) {
  std::unique_lock lock(mutex_);
  given_back_.wait(lock, [&] {
    return !main_is_lent_ || (!only_main && (!free_.empty() || spare_.size() < workers()));
  });
  if (!main_is_lent_) {
    main_is_lent_ = true;
    return &main_;
  }
  if (free_.empty()) {
    spare_.push_back(std::make_unique<HostExecutor>(1));
    return spare_.back().get();
  }
  HostExecutor* const executor = free_.back();
  free_.pop_back();
  return executor;
}

void ExecutorPool::give_back(HostExecutor* executor) {
  {
    const std::lock_guard lock(mutex_);
    if (executor == &main_) {
      main_is_lent_ = false;
    } else {
      free_.push_back(executor);
    }
  }
  given_back_.notify_all();
}

}  // namespace sluice::runtime
