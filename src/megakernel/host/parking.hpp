// Waiting without burning a core: spin briefly, then yield, then sleep until something happens.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sluice::megakernel {

// Parking is where threads wait for conditions over sequentially consistent atomics that other
// threads change. Whoever changes one calls notify() afterwards, which costs a single load while
// nobody sleeps. Thread-safe.
class alignas(64) Parking {
 public:
  // wait() returns once ready() is true. ready() may be called any number of times, also under
  // the lock of this object, and must read its atomics with memory_order_seq_cst.
  template <class Ready>
  void wait(Ready&& ready) {
    if (ready() || spin(ready) || yield(ready)) return;
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    // Either this check sees the change, or the changer's notify() sees the sleeper: both sides
    // write first and read afterwards, all sequentially consistent.
    while (!ready()) {
      changed_.wait(lock);
    }
    sleepers_.fetch_sub(1);
  }

  // notify() lets sleepers look again.
  void notify() {
    if (sleepers_.load() > 0) wake();
  }

 private:
  // About a microsecond: what a neighbour's task needs to end if it is nearly done.
  static constexpr int spins = 24;
  // Yielding is for an idle machine, where it is a slower kind of spinning. On a busy one a single
  // yield gives away whole time slices, after which this budget is spent; a sleeper is back sooner.
  static constexpr std::chrono::microseconds yield_budget{100};

  template <class Ready>
  static bool spin(Ready& ready) {
    for (int i = 0; i < spins; ++i) {
      pause();
      if (ready()) return true;
    }
    return false;
  }

  template <class Ready>
  static bool yield(Ready& ready) {
    const auto end = std::chrono::steady_clock::now() + yield_budget;
    do {
      yield_core();
      if (ready()) return true;
    } while (std::chrono::steady_clock::now() < end);
    return false;
  }

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  static void yield_core();
  void wake();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace sluice::megakernel
