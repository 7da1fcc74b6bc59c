// The runtime's one lock, and what happens where something throws under it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/thread/brief_lock.hpp"

namespace sluice::runtime {

// Gate guards all of the runtime's state but what plans and runs windows. It is shut after a bug of
// ours (a failed assertion, no memory) and when the runtime has finished: then everything passes.
class Gate {
 public:
  using Lock = std::unique_lock<std::mutex>;

  // on_failure() says what hands held launches to the driver when the gate is shut by a bug; it is
  // called under the lock and throws nothing.
  void on_failure(std::function<void()> let_go) { let_go_ = std::move(let_go); }

  Lock lock() {
    Lock held(mutex_, std::try_to_lock);
    if (held.owns_lock()) return held;
    ++waiting_;
    lock_briefly_held(held);
    --waiting_;
    return held;
  }
  // is_wanted() is whether other threads wait for the lock now.
  bool is_wanted() const { return waiting_ != 0; }
  // enter() calls `call(lock)` under the lock; nothing is thrown out of it into the program.
  template <class Call>
  void enter(Call&& call) noexcept {
    Lock held = lock();
    try {
      call(held);
    } catch (...) {
      fail();
    }
    if (!after_.empty()) do_after(held);
  }
  // enter_open() calls `call()` so where the gate is not shut.
  template <class Call>
  void enter_open(Call&& call) noexcept {
    enter([&](Lock&) {
      if (!is_shut()) call();
    });
  }

  // Under the lock:
  // after() puts `work`, which throws nothing, off until the calling thread lets go of the lock:
  // enter() then does it before it returns, step_out() before it takes the lock again.
  void after(std::function<void()> work) { after_.push_back(std::move(work)); }
  void step_out(Lock& held) noexcept {
    do_after(held);
    held.lock();
  }
  bool is_shut() const { return has_failed_ || is_finished_; }
  bool is_finished() const { return is_finished_; }
  void finish() { is_finished_ = true; }
  // fail(), in a handler, logs once what was thrown and shuts the gate.
  void fail() noexcept;

 private:
  // do_after() lets go of the lock for it.
  void do_after(Lock& held) noexcept {
    const std::vector<std::function<void()>> works = std::exchange(after_, {});
    held.unlock();
    for (const auto& work : works)
      work();
  }

  std::mutex mutex_;
  std::atomic<uint32_t> waiting_{0};
  std::function<void()> let_go_;
  std::vector<std::function<void()>> after_;
  bool is_finished_ = false;
  bool has_failed_ = false;
};

}  // namespace sluice::runtime
