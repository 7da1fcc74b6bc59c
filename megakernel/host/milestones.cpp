#include "megakernel/host/milestones.hpp"

namespace sluice::megakernel {

void Milestones::open(const Window& window) {
  window_ = &window;
  stretch_of_.clear();
  next_ = 0;
  const size_t count = window.milestones.size();
  if (count == 0) return;
  if (count > capacity_) {
    left_ = std::make_unique<std::atomic<uint32_t>[]>(count);
    capacity_ = count;
  }
  for (uint32_t stretch = 0; stretch < count; ++stretch) {
    uint32_t tasks = 0;
    while (stretch_of_.size() < window.milestones[stretch].launches) {
      tasks += task_count(window.plan.launches[stretch_of_.size()]);
      stretch_of_.push_back(stretch);
    }
    left_[stretch].store(tasks, std::memory_order_relaxed);
  }
}

// Whoever ends a stretch comes here after counting it down, so that the last to come sees all that
// are ended.
void Milestones::advance() {
  const std::lock_guard lock(mutex_);
  const auto& milestones = window_->milestones;
  for (; next_ < milestones.size() && left_[next_].load(std::memory_order_acquire) == 0; ++next_)
    milestones[next_].reached();
}

void Milestones::close() {
  if (window_ == nullptr) return;
  for (; next_ < window_->milestones.size(); ++next_)
    window_->milestones[next_].reached();
  window_ = nullptr;
}

}  // namespace sluice::megakernel
