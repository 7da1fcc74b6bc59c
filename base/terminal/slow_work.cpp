#include "base/terminal/slow_work.hpp"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "base/keep_errno.hpp"
#include "base/log.hpp"
#include "base/terminal/fitted_name.hpp"
#include "base/thread/signals_blocked.hpp"

namespace sluice {

struct SlowWork::Watch {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::thread thread;
};

SlowWork::SlowWork(const char* doing, const std::string& kernel, const char* note,
                   std::chrono::milliseconds patience) {
  const KeepErrno keep;
  if (log::level() < log::Level::warning || isatty(STDERR_FILENO) == 0) return;
  watch_ = std::make_unique<Watch>();
  // A handler of the program must not run on a thread that is not the program's.
  const SignalsBlocked blocked;
  try {
    watch_->thread =
        std::thread([watch = watch_.get(), doing, name = fitted_name(kernel, 60), note, patience] {
          std::unique_lock lock(watch->mutex);
          if (watch->changed.wait_for(lock, patience, [&] { return watch->is_done; })) return;
          log::warning("{} {}, {}", doing, name, note);
        });
  } catch (const std::system_error&) {
    watch_.reset();  // then it stays silent
  }
}

SlowWork::~SlowWork() {
  if (watch_ == nullptr) return;
  const KeepErrno keep;
  {
    const std::lock_guard lock(watch_->mutex);
    watch_->is_done = true;
  }
  watch_->changed.notify_all();
  watch_->thread.join();
}

}  // namespace sluice
