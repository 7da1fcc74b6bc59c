// Work that may take long tells of itself where somebody watches.
#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace sluice {

// SlowWork stands for work that lasts as long as it lives. Where that is longer than `patience` and
// stderr is a terminal, it says once what is being done: "sluice: analysing scale<float>, ...".
// Elsewhere it does nothing, and takes no thread. It never changes errno. Thread-safe.
class SlowWork {
 public:
  // `doing` is what is done to `kernel`, and `note` what else there is to say; both stay.
  SlowWork(const char* doing, const std::string& kernel, const char* note,
           std::chrono::milliseconds patience);
  ~SlowWork();
  SlowWork(const SlowWork&) = delete;
  SlowWork& operator=(const SlowWork&) = delete;

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;  // null: nobody watches
};

}  // namespace sluice
