#include "hostcuda/driver/stream/function_hold.hpp"

#include <chrono>

namespace sluice::hostcuda {
namespace {

// Longer than a program takes to be gone when nothing of it waits.
constexpr std::chrono::milliseconds grace{250};

}  // namespace

void FunctionHold::end() {
  const std::lock_guard lock(mutex_);
  State held = State::held;
  state_.compare_exchange_strong(held, State::ending);
  changed_.notify_all();
}

void FunctionHold::let_go() {
  const std::lock_guard lock(mutex_);
  state_.store(State::none);
  changed_.notify_all();
}

void FunctionHold::wait() {
  if (state_.load() == State::none) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return state_.load() != State::held; });
  changed_.wait_for(lock, grace, [&] { return state_.load() == State::none; });
}

}  // namespace sluice::hostcuda
