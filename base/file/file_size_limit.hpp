// Files of ours under the program's own limit of file sizes.
#pragma once

#include <ctime>

#include <pthread.h>
#include <signal.h>

namespace sluice {

// FileSizeLimitIsAnError has this thread's writes beyond RLIMIT_FSIZE fail with EFBIG, as long as
// it lives: the SIGXFSZ that comes with it ends programs, which never asked for the file. Signals
// that the program had blocked or pending stay so.
class FileSizeLimitIsAnError {
 public:
  FileSizeLimitIsAnError() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeLimitIsAnError() {
    constexpr timespec no_time = {};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &no_time);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeLimitIsAnError(const FileSizeLimitIsAnError&) = delete;
  FileSizeLimitIsAnError& operator=(const FileSizeLimitIsAnError&) = delete;

 private:
  sigset_t signal_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace sluice
