// Keeping functions of the program from beginning while it ends.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sluice::hostcuda {

// FunctionHold is for who waits at a program's end for work of the device that would otherwise not
// be done any more: a function of the program that stands behind such work would not have run.
// Thread-safe.
class FunctionHold {
 public:
  // begin() holds functions back that have not begun. After end() they begin when somebody waits
  // for the device, or a little later by themselves: a handler of atexit() may need them.
  void begin() { state_.store(State::held); }
  void end();
  // somebody_waits() is said before each wait for work of the device.
  void somebody_waits() {
    if (state_.load() == State::ending) let_go();
  }

  // wait() returns when a function may begin.
  void wait();

 private:
  enum class State : uint8_t { none, held, ending };
  void let_go();

  std::atomic<State> state_{State::none};
  std::mutex mutex_;  // of waiting for a change
  std::condition_variable changed_;
};

}  // namespace sluice::hostcuda
