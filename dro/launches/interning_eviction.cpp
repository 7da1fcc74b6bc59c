// What LaunchTable drops, and when.
#include <algorithm>
#include <unordered_set>

#include "dro/launches/eviction.hpp"
#include "dro/launches/interning.hpp"

namespace sluice::dro {

void FootprintTable::drop(const std::function<bool(FootprintId)>& is_needed, uint64_t step) {
  table_.drop([](FootprintId) { return false; },
              [&](FootprintId id) { return is_needed(id) || table_.last_use(id) == step; });
}

std::vector<PatternId> PatternTable::drop(const std::function<bool(PatternId)>& is_needed,
                                          bool heavy) {
  const auto dropped = table_.drop([](PatternId) { return false; }, is_needed, heavy);
  listed_ranges_ = 0;
  table_.for_each(
      [this](PatternId, const LaunchPattern& pattern) { listed_ranges_ += pattern.listed_ranges; });
  range_bound_.leave(listed_ranges_);
  return dropped;
}

std::unordered_set<FootprintId> PatternTable::footprints() const {
  std::unordered_set<FootprintId> needed;
  table_.for_each([&](PatternId, const LaunchPattern& pattern) {
    if (pattern.footprint) needed.insert(*pattern.footprint);
  });
  return needed;
}

bool LaunchTable::crowded() const {
  return unreachable_bound_.is_passed_by(unreachable_) || bound_.is_passed_by(by_key_.size()) ||
         patterns_.is_crowded() || footprints_.is_crowded();
}

void LaunchTable::make_unreachable(LaunchSlot slot) {
  InternedLaunch& launch = slots_[slot].launch;
  if (launch.key == nullptr) return;
  by_key_.erase(by_key_.find(*launch.key));
  launch.key = nullptr;
  ++unreachable_;
}

LaunchTable::Dropped LaunchTable::drop(const std::function<bool(LaunchSlot)>& live) {
  const bool heavy = patterns_.is_heavy();
  Dropped dropped;
  dropped.launches = drop_launches(live, heavy);
  std::unordered_set<PatternId> launched;
  const std::unordered_set<LaunchSlot> free(free_slots_.begin(), free_slots_.end());
  for (LaunchSlot slot = 0; slot < slots_.size(); ++slot) {
    if (!free.contains(slot)) launched.insert(slots_[slot].launch.pattern);
  }
  dropped.patterns = patterns_.drop([&](PatternId id) { return launched.contains(id); }, heavy);
  const auto bound = patterns_.footprints();
  footprints_.drop([&](FootprintId id) { return bound.contains(id); }, step_);
  return dropped;
}

std::vector<LaunchSlot> LaunchTable::drop_launches(const std::function<bool(LaunchSlot)>& live,
                                                   bool heavy) {
  std::vector<std::pair<uint64_t, LaunchSlot>> idle;
  for (const auto& [key, slot] : by_key_) {
    if (!live(slot)) idle.emplace_back(slots_[slot].launch.last_used, slot);
  }
  const size_t surplus = to_drop(by_key_.size(), bound_.limit(), heavy);
  for (const LaunchSlot slot : least_recent(std::move(idle), surplus)) {
    make_unreachable(slot);
    ++counts_.use.evictions;
  }
  const std::unordered_set<LaunchSlot> free(free_slots_.begin(), free_slots_.end());
  std::vector<LaunchSlot> dropped;
  for (LaunchSlot slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].launch.key != nullptr || free.contains(slot) || live(slot)) continue;
    slots_[slot] = {{}, slots_[slot].serial + 1};
    dropped.push_back(slot);
  }
  free_slots_.insert(free_slots_.end(), dropped.begin(), dropped.end());
  unreachable_ -= dropped.size();
  unreachable_bound_.leave(unreachable_);
  bound_.leave(by_key_.size());
  buffers_.forget(
      [this](LaunchSlot slot, uint64_t serial) { return slots_[slot].serial != serial; });
  return dropped;
}

}  // namespace sluice::dro
