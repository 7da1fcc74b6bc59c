// Waiting without burning a core: spin briefly, then sleep until something happens.
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
    if (ready() || spin(ready)) return;
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    // Either this check sees the change, or the changer's notify() sees the sleeper: both sides
    // write first and read afterwards, all sequentially consistent.
    while (!ready()) {
      changed_.wait(lock);
    }
    sleepers_.fetch_sub(1);
  }

  // notify() lets sleepers look again, and says whether there were any.
  bool notify() {
    if (sleepers_.load() == 0) return false;
    wake();
    return true;
  }

  // spin() looks for at most `budget` and returns whether ready() was true.
  template <class Ready>
  static bool spin(Ready& ready, std::chrono::microseconds budget = spin_budget) {
    const auto end = std::chrono::steady_clock::now() + budget;
    do {
      for (int i = 0; i < 16; ++i) {
        pause();
        if (ready()) return true;
      }
    } while (std::chrono::steady_clock::now() < end);
    return false;
  }

 private:
  // About what it costs to wake a sleeper. There is no yielding: on an idle machine it is a slower
  // kind of spinning, and on a busy one a single yield gives away a whole time slice, while a
  // sleeper is given a processor soon after it is woken.
  static constexpr std::chrono::microseconds spin_budget{50};

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  void wake();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace sluice::megakernel
