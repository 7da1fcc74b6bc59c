// When tasks ran, for the journal.
#pragma once

#include <chrono>
#include <cstdint>

#include "dro/journal/journal.hpp"
#include "runtime/check/observer.hpp"
#include "runtime/task_records.hpp"

namespace sluice::runtime {

// Trace writes one record for each launch of a window that has ended, in nanoseconds since the
// trace was made.
class Trace final : public Observer {
 public:
  explicit Trace(dro::JournalWriter& journal) : journal_(&journal) {}

  Wants wants() const override { return {.task_times = true}; }
  void window_ran(const PlannedWindow& window, const megakernel::TaskTimes& times) override {
    if (journal_ == nullptr) return;  // the runtime did not wait for this window
    for (dro::TaskRecord& record : task_records(window, times, start_))
      journal_->note(std::move(record));
  }
  void finished(dro::JournalWriter* /*journal*/) override { journal_ = nullptr; }

 private:
  dro::JournalWriter* journal_;
  const int64_t start_ =
      std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
};

}  // namespace sluice::runtime
