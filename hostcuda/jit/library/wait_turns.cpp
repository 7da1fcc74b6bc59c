#include "hostcuda/jit/library/wait_turns.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "base/log.hpp"
#include "base/thread/give_way.hpp"
#include "hostcuda/jit/library/fault_guard.hpp"

namespace sluice::hostcuda::jit {
namespace {

using Clock = std::chrono::steady_clock;

// Ticks of the processor between two looks, some microseconds: in that time another thread of the
// block may get on.
constexpr uint64_t ticks_a_look = 20'000;
// Until the first look after a nap.
constexpr uint64_t ticks_awake = 4'000;

constexpr uint64_t most_looks = 16;

// A block that waits for one that runs now goes on soon; beyond this there may be none that runs.
constexpr std::chrono::microseconds soon{50};
// And beyond this, those that have something to do better have the processor for themselves: it
// sleeps for a part of the time that it has waited.
constexpr std::chrono::microseconds patience{500};
constexpr std::chrono::microseconds longest_nap{250};
constexpr int naps = 16;

// Wait is that of the block which the calling thread runs.
struct Wait {
  bool goes_on = false;
  uint64_t last_look = 0;  // in ticks
  uint64_t looks = 0;
  bool is_told = false;
  Clock::time_point since;
};
thread_local Wait wait;
thread_local const WaitListener* listener = nullptr;

std::chrono::duration<double> time_to_warn() {
  static const double seconds = [] {
    const char* text = std::getenv("SLUICE_WAIT_WARNING");
    return text != nullptr ? std::strtod(text, nullptr) : 5.0;
  }();
  return std::chrono::duration<double>(seconds);
}

void warn_once(const char* text, Clock::duration waited) {
  static auto* mutex = new std::mutex;
  static auto* told = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  if (!told->insert(text).second) return;
  log::warning("{}, for {:.1f} s now; it goes on waiting", text,
               std::chrono::duration<double>(waited).count());
}

}  // namespace

void set_wait_listener_of_thread(const WaitListener* replacement) {
  listener = replacement;
}

extern "C" void sluice_jit_wait_end() {
  wait.goes_on = false;
}

extern "C" void sluice_jit_wait_turn(const char* text) {
  const uint64_t ticks = __builtin_ia32_rdtsc();
  if (!wait.goes_on) {
    wait.goes_on = true;
    wait.last_look = ticks;
    wait.since = {};
  }
  if (ticks - wait.last_look < ticks_a_look) return;
  wait.last_look = ticks;
  // Whom the block waits for may have been ended.
  end_if_faulted();
  const Clock::time_point now = Clock::now();
  if (wait.since == Clock::time_point{}) {
    wait.since = now;
    wait.is_told = false;
  }
  const Clock::duration waited = now - wait.since;
  // Threads of a block that leave such a loop one after the other don't let it go on for ever.
  const bool often = ++wait.looks % most_looks == 0;
  if ((often || waited > soon) && listener != nullptr) listener->waits(listener->data);
  const auto limit = time_to_warn();
  if (!wait.is_told && limit.count() > 0 && waited > limit) {
    wait.is_told = true;
    warn_once(text, waited);
  }
  if (waited > patience) {
    std::this_thread::sleep_for(std::min<Clock::duration>(waited / naps, longest_nap));
    wait.last_look = __builtin_ia32_rdtsc() - ticks_a_look + ticks_awake;
  } else {
    give_way();
  }
}

}  // namespace sluice::hostcuda::jit
