// Work of Sluice's own that may take long, away from the program's threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include <sys/types.h>
#include <time.h>

namespace sluice::runtime {

// Background does what it is given on one thread, in the order given. The thread is there while
// there is work, and gets none of the program's signals. Once work has taken long, all of it
// together, it goes on beside the program's threads at the lowest priority. Thread-safe.
class Background {
 public:
  // For so many nanoseconds of each processor that the process has, and 2 % of the time so far,
  // work may compete with the program's threads and the device's: where these keep all processors
  // busy, it delays them by so much. What brings something is mostly found by then.
  static constexpr int64_t eager = 30'000'000;

  // `waits`: whoever gives work does it at once, on the calling thread.
  explicit Background(bool waits, int64_t eager_for = eager);
  ~Background() { stop(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  bool waits() const { return waits_; }

  // run() gives work. Its future has what it returns or throws; where it was never begun, that is a
  // broken promise. Where there can be no thread it is done at once.
  template <class Work>
  std::future<std::invoke_result_t<Work>> run(Work&& work) {
    using Result = std::invoke_result_t<Work>;
    // A packaged_task's future would keep the work, which may keep who keeps the future.
    auto promise = std::make_shared<std::promise<Result>>();
    auto result = promise->get_future();
    auto task = std::make_shared<std::decay_t<Work>>(std::forward<Work>(work));
    auto done = [promise = std::move(promise), task = std::move(task)] {
      try {
        if constexpr (std::is_void_v<Result>) {
          (*task)();
          promise->set_value();
        } else {
          promise->set_value((*task)());
        }
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    };
    if (waits_) {
      done();
    } else {
      add(std::move(done));
    }
    return result;
  }

  // is_long() is called now and then by those who find work unfinished: whether it has taken long
  // by now. It costs nothing where there is none. spent() is how many nanoseconds of a processor
  // work has had: while others keep the processors busy, these are few; clock() is that of whoever
  // does the work. at_work() is how many nanoseconds ago the work of now could begin, 0 for none.
  bool is_long();
  int64_t spent();
  int64_t at_work();
  static int64_t clock();

  // drop() forgets work that has not begun, stop() also waits for what has. Neither may be called
  // by work.
  void drop();
  void stop();

 private:
  void add(std::function<void()> work);
  void serve();
  void watch();
  int64_t allowed() const;
  void lower_where_long();

  const bool waits_;
  const int64_t eager_;
  const int64_t started_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable ended_;
  std::deque<std::function<void()>> work_;
  std::atomic<bool> is_serving_ = false;
  pid_t thread_ = 0;           // the system's number of the thread that serves; 0: not known yet
  clockid_t processor_ = {};   // its time
  int64_t spent_ = 0;          // by threads before
  int64_t at_work_since_ = 0;  // the work of now
  int64_t processors_ = 1;     // that the process has
  bool is_lowered_ = false;
  std::condition_variable began_;
  enum class Watch { none, waits, counts, stops };
  Watch watch_ = Watch::none;  // what a second thread does, which lowers the one that serves
};

}  // namespace sluice::runtime
