#include "megakernel/host/milestones.hpp"

namespace sluice::megakernel {

void Milestones::open(const Window& window) {
  window_ = nullptr;
  const auto count = static_cast<uint32_t>(window.milestones.size());
  if (count == 0) return;
  if (count > capacity_) {
    left_ = std::make_unique<std::atomic<uint32_t>[]>(count);
    capacity_ = count;
  }
  before_.assign(count, {});
  for (uint32_t i = 0; i < count; ++i) {
    const std::vector<uint32_t>& after = window.milestones[i].after;
    left_[i].store(static_cast<uint32_t>(after.size()) + 1, std::memory_order_relaxed);
    for (const uint32_t earlier : after)
      before_[earlier].push_back(i);
  }
  for (uint32_t launch = 0; launch < window.milestone_of.size(); ++launch) {
    const uint32_t milestone = window.milestone_of[launch];
    if (milestone != no_milestone)
      left_[milestone].fetch_add(task_count(window.plan.launches[launch]),
                                 std::memory_order_relaxed);
  }
  window_ = &window;
  for (uint32_t i = 0; i < count; ++i)
    if (counts_down(i)) reach(i);
}

// A chain of milestones is as long as a window at most.
void Milestones::reach(uint32_t milestone) {
  window_->milestones[milestone].reached();
  for (const uint32_t later : before_[milestone])
    if (counts_down(later)) reach(later);
}

void Milestones::close() {
  if (window_ == nullptr) return;
  for (size_t i = 0; i < window_->milestones.size(); ++i)
    if (left_[i].load(std::memory_order_relaxed) != 0) window_->milestones[i].reached();
  window_ = nullptr;
}

}  // namespace sluice::megakernel
