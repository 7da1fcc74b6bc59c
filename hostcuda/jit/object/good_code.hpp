// A kernel's good code, made by a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "hostcuda/jit/object/kernel_code.hpp"

namespace sluice::hostcuda::jit {

// GoodCode is being made, or will be: as many at once as leave the program a processor, others wait
// in the order they were begun. Once who asked for it has waited long enough, somebody else takes
// it. A process that ends waits for all of it: its next start has it from the cache. Thread-safe.
class GoodCode {
 public:
  using Made = Result<KernelCode>;

  // begin() starts a thread, which takes no signals of the program, or has one that is at work take
  // it next. Null where there is no thread to be had.
  static std::shared_ptr<GoodCode> begin(PackedKernel kernel);

  // wait_until() is the code, or why there is none; nothing where it takes longer than that. Where
  // others came first it does not wait.
  std::optional<Made> wait_until(std::chrono::steady_clock::time_point end);

  // leave_to() has `taker` called with it, once, by the thread or at once.
  void leave_to(std::function<void(Made)> taker);

 private:
  friend class GoodCodeThreads;
  explicit GoodCode(PackedKernel kernel) : kernel_(std::move(kernel)) {}
  void make();

  PackedKernel kernel_;
  bool is_behind_others_ = false;  // as it was begun
  std::mutex mutex_;               // guards what follows
  std::condition_variable changed_;
  std::optional<Made> code_;
  std::function<void(Made)> taker_;
};

}  // namespace sluice::hostcuda::jit
