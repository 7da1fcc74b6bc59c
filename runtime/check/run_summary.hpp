// What Sluice did in a run, in one line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "runtime/check/observer.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

// RunSummary counts launches that passed through, by reason, and how long windows were held back.
// Not thread-safe.
class RunSummary final : public Observer {
 public:
  // `now` is the clock, in nanoseconds.
  explicit RunSummary(Policy::Clock now) : now_(now) {}

  Wants wants() const override { return {}; }
  void unchecked(const std::string& kernel, const std::string& reason) override;
  void window_opened(const void* stream) override { opened_[stream] = now_(); }
  void window_closed(const void* stream) override;

  // line() is "120 launches: 100 as tasks, 20 passed through (15 of them: ...); held back for
  // 1.2 ms". Launches that are neither were made plainly, to compare. `plain_speed` is how many
  // times as fast these were, where that was measured.
  std::string line(uint64_t launches, uint64_t tasks, std::optional<double> plain_speed) const;

 private:
  const Policy::Clock now_;
  std::map<std::string, uint64_t> passed_;  // launches by reason
  std::unordered_map<const void*, int64_t> opened_;
  int64_t held_ = 0;  // nanoseconds, summed over windows
};

}  // namespace sluice::runtime
