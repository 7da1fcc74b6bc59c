#include "runtime/check/run_summary.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::runtime {
namespace {

// duration_text() is "3.1 ms", or "2.50 s" from a second on.
std::string duration_text(int64_t nanoseconds) {
  const double milliseconds = static_cast<double>(nanoseconds) * 1e-6;
  if (milliseconds < 1000) return fmt::format("{:.1f} ms", milliseconds);
  return fmt::format("{:.2f} s", milliseconds * 1e-3);
}

}  // namespace

void RunSummary::unchecked(const std::string&, const std::string& reason) {
  ++passed_[reason];
}

void RunSummary::window_closed(const void* stream) {
  const auto opened = opened_.find(stream);
  if (opened == opened_.end()) return;
  held_ += now_() - opened->second;
  opened_.erase(opened);
}

std::string RunSummary::line(uint64_t launches, uint64_t tasks,
                             std::optional<double> plain_speed) const {
  uint64_t passed = 0;
  auto main = passed_.begin();
  for (auto reason = passed_.begin(); reason != passed_.end(); ++reason) {
    passed += reason->second;
    if (reason->second > main->second) main = reason;
  }
  std::string text = fmt::format("{} launch{}: {} as tasks, {} passed through", launches,
                                 launches == 1 ? "" : "es", tasks, passed);
  if (passed_.size() > 1) text += fmt::format(" ({} of them: {})", main->second, main->first);
  if (passed_.size() == 1) text += fmt::format(" ({})", main->first);
  const uint64_t plain = launches - std::min(launches, tasks + passed);
  if (plain > 0) text += fmt::format(", {} plainly", plain);
  text += fmt::format("; held back for {}", duration_text(held_));
  if (plain_speed) {
    text += fmt::format("; tasks were {:.2f} x as fast as plain launches", 1 / *plain_speed);
  }
  return text;
}

}  // namespace sluice::runtime
