// Threads inside a program that does not know of them, and how long they may spin.
#pragma once

#include <chrono>
#include <functional>

namespace sluice::hostcuda {

// spin_limit bounds every busy wait: about what it costs to wake a sleeping thread.
constexpr std::chrono::microseconds spin_limit{50};

// spin_until() waits busily until done() holds, for at most spin_limit. True where it held.
template <class Done>
bool spin_until(Done done) {
  if (done()) return true;
  const auto end = std::chrono::steady_clock::now() + spin_limit;
  do {
    for (int turn = 0; turn < 32; ++turn) {
      if (done()) return true;
      __builtin_ia32_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// start_daemon_thread() runs `body` on a detached thread that takes no signals of the program and
// does not keep the process from ending. Throws std::system_error where there is no thread to be
// had.
void start_daemon_thread(const char* name, std::function<void()> body);

}  // namespace sluice::hostcuda
