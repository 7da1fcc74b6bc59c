// Threads inside a program that does not know of them, and how long they may spin.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>

#include "base/thread/give_way.hpp"

namespace sluice::hostcuda {

// spin_limit bounds every busy wait: about what it costs to wake a sleeping thread. After
// pause_limit a waiter gives way between looks.
constexpr std::chrono::microseconds spin_limit{50};
constexpr std::chrono::microseconds pause_limit{5};

// spin_until() waits busily until done() holds, for at most spin_limit. True where it held.
template <class Done>
bool spin_until(Done done) {
  if (done()) return true;
  const auto start = std::chrono::steady_clock::now();
  for (auto spent = std::chrono::steady_clock::duration::zero(); spent < spin_limit;
       spent = std::chrono::steady_clock::now() - start) {
    if (spent > pause_limit) give_way();
    for (int turn = 0; turn < 16; ++turn) {
      if (done()) return true;
      __builtin_ia32_pause();
    }
  }
  return done();
}

// start_daemon_thread() runs `body` on a detached thread that takes no signals of the program and
// does not keep the process from ending. Throws std::system_error where there is no thread to be
// had.
void start_daemon_thread(const char* name, std::function<void()> body);

// let_faults_through() says that threads started from now on take SIGSEGV, which a handler of the
// device's own serves. is_daemon_thread() is whether the calling thread is one of them.
void let_faults_through();
bool is_daemon_thread();

// While it lives, a daemon thread that accesses memory of the program's own hands faults of it to
// the program's handlers, as the program's threads would.
class FaultsOfTheProgram {
 public:
  FaultsOfTheProgram();
  ~FaultsOfTheProgram();
  FaultsOfTheProgram(const FaultsOfTheProgram&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace sluice::hostcuda
