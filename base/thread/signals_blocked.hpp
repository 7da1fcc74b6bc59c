// Starting threads that get none of the program's signals.
#pragma once

#include <initializer_list>

#include <pthread.h>
#include <signal.h>

namespace sluice {

// SignalsBlocked keeps the program's signals, all but those of `open`, away from threads started in
// its life, since a handler of the program may rely on running on a thread of the program.
class SignalsBlocked {
 public:
  explicit SignalsBlocked(std::initializer_list<int> open = {}) {
    sigset_t all;
    sigfillset(&all);
    for (const int signal : open)
      sigdelset(&all, signal);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace sluice
