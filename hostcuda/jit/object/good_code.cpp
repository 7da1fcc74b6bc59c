#include "hostcuda/jit/object/good_code.hpp"

#include <cstdlib>
#include <deque>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include "base/terminal/slow_work.hpp"
#include "base/thread/signals_blocked.hpp"
#include "hostcuda/jit/library/quick_form.hpp"

namespace sluice::hostcuda::jit {

// GoodCodeThreads makes what is begun. It is never destroyed: its threads may be at work while the
// process ends.
class GoodCodeThreads {
 public:
  static GoodCodeThreads& get() {
    static std::once_flag once;
    static GoodCodeThreads* threads = nullptr;
    std::call_once(once, [] {
      threads = new GoodCodeThreads;
      // Not atexit(), which the device's library has do nothing.
      on_exit([](int, void*) { threads->wait(); }, nullptr);
    });
    return *threads;
  }

  // add() is whether there is a thread for it.
  bool add(const std::shared_ptr<GoodCode>& code) {
    const std::lock_guard lock(mutex_);
    code->is_behind_others_ = at_work_ >= most_;
    waiting_.push_back(code);
    if (code->is_behind_others_) return true;
    try {
      const SignalsBlocked blocked;
      std::thread thread([this] { serve(); });
      pthread_setname_np(thread.native_handle(), "sluice-compile");
      thread.detach();
    } catch (const std::system_error&) {
      waiting_.pop_back();
      return false;
    }
    ++at_work_;
    return true;
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    while (!waiting_.empty()) {
      const std::shared_ptr<GoodCode> code = std::move(waiting_.front());
      waiting_.pop_front();
      newest_ = code->kernel_.kernel;
      lock.unlock();
      code->make();
      lock.lock();
    }
    if (--at_work_ == 0) none_.notify_all();
  }

  // In a forked child there is none of them.
  void wait() {
    if (getpid() != process_) return;
    std::unique_lock lock(mutex_);
    if (at_work_ == 0) return;
    const SlowWork telling("compiling", newest_, "which the next start is spared",
                           std::chrono::milliseconds(1000));
    none_.wait(lock, [this] { return at_work_ == 0; });
  }

  const pid_t process_ = getpid();
  const uint32_t most_ = processors_beside_one();
  std::mutex mutex_;  // guards what follows
  std::condition_variable none_;
  std::deque<std::shared_ptr<GoodCode>> waiting_;
  uint32_t at_work_ = 0;  // threads
  std::string newest_;    // kernel that is made
};

std::shared_ptr<GoodCode> GoodCode::begin(PackedKernel kernel) {
  std::shared_ptr<GoodCode> code(new GoodCode(std::move(kernel)));
  return GoodCodeThreads::get().add(code) ? code : nullptr;
}

void GoodCode::make() {
  Result<LoweredKernel> kernel = unpacked(std::move(kernel_));
  Made made =
      kernel ? finish_kernel(std::move(*kernel), Form::good) : tl::unexpected(kernel.error());
  std::unique_lock lock(mutex_);
  code_ = std::move(made);
  changed_.notify_all();
  if (!taker_) return;
  lock.unlock();
  taker_(std::move(*code_));
}

std::optional<GoodCode::Made> GoodCode::wait_until(std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(mutex_);
  const auto is_made = [this] { return code_.has_value(); };
  if (!is_behind_others_) changed_.wait_until(lock, end, is_made);
  return std::exchange(code_, std::nullopt);
}

void GoodCode::leave_to(std::function<void(Made)> taker) {
  std::unique_lock lock(mutex_);
  if (!code_) {
    taker_ = std::move(taker);
    return;
  }
  lock.unlock();
  taker(std::move(*code_));
}

}  // namespace sluice::hostcuda::jit
