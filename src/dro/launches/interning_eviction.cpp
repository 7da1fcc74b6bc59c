// What LaunchTable drops, and when.
#include <algorithm>
#include <unordered_set>

#include "dro/launches/eviction.hpp"
#include "dro/launches/interning.hpp"

namespace sluice::dro {

bool LaunchTable::crowded() const {
  return unreachable_ > most_unreachable_ || launch_by_key_.size() > most_launches_ ||
         patterns_.size() > most_patterns_ || listed_ranges_ > most_listed_ranges_ ||
         footprints_.size() > most_footprints_;
}

void LaunchTable::make_unreachable(LaunchSlot slot) {
  InternedLaunch& launch = launches_[slot];
  if (launch.key == nullptr) return;
  launch_by_key_.erase(launch_by_key_.find(*launch.key));
  launch.key = nullptr;
  ++unreachable_;
}

LaunchTable::Dropped LaunchTable::drop(const std::function<bool(LaunchSlot)>& live) {
  const bool heavy = listed_ranges_ > most_listed_ranges_;
  Dropped dropped;
  dropped.launches = drop_launches(live, heavy);
  dropped.patterns = drop_patterns(heavy);
  drop_footprints();
  most_unreachable_ = std::max(most_unreachable, 2 * unreachable_);
  most_launches_ = std::max<size_t>(limits_.launches, 2 * launch_by_key_.size());
  most_listed_ranges_ = std::max(most_listed_ranges, 2 * listed_ranges_);
  most_patterns_ = std::max<size_t>(limits_.footprints, 2 * patterns_.size());
  most_footprints_ = std::max<size_t>(limits_.footprints, 2 * footprints_.size());
  return dropped;
}

namespace {

// to_drop_of() is to_drop(); where lists take too much memory, half goes whatever the limit.
size_t to_drop_of(size_t size, uint64_t limit, bool heavy) {
  return heavy ? std::max(to_drop(size, limit), (size + 1) / 2) : to_drop(size, limit);
}

}  // namespace

std::vector<LaunchSlot> LaunchTable::drop_launches(const std::function<bool(LaunchSlot)>& live,
                                                   bool heavy) {
  std::vector<std::pair<uint64_t, LaunchSlot>> idle;
  for (const auto& [key, slot] : launch_by_key_) {
    if (!live(slot)) idle.emplace_back(launches_[slot].last_used, slot);
  }
  const size_t surplus = to_drop_of(launch_by_key_.size(), limits_.launches, heavy);
  for (const LaunchSlot slot : least_recent(std::move(idle), surplus)) {
    make_unreachable(slot);
    ++launch_use_.evictions;
  }
  const std::unordered_set<LaunchSlot> free(free_launches_.begin(), free_launches_.end());
  std::vector<LaunchSlot> dropped;
  for (LaunchSlot slot = 0; slot < launches_.size(); ++slot) {
    if (launches_[slot].key != nullptr || free.count(slot) != 0 || live(slot)) continue;
    launches_[slot] = {};
    ++serials_[slot];
    dropped.push_back(slot);
  }
  free_launches_.insert(free_launches_.end(), dropped.begin(), dropped.end());
  unreachable_ -= dropped.size();
  for (auto& [id, buffer] : buffers_) {
    std::erase_if(buffer.launches,
                  [this](const auto& named) { return serials_[named.first] != named.second; });
  }
  return dropped;
}

std::vector<PatternId> LaunchTable::drop_patterns(bool heavy) {
  std::unordered_set<PatternId> needed;
  const std::unordered_set<LaunchSlot> free(free_launches_.begin(), free_launches_.end());
  for (LaunchSlot slot = 0; slot < launches_.size(); ++slot) {
    if (free.count(slot) == 0) needed.insert(launches_[slot].pattern);
  }
  std::vector<std::pair<uint64_t, PatternId>> idle;
  for (const auto& [id, pattern] : patterns_) {
    if (needed.count(id) == 0) idle.emplace_back(pattern.last_used, id);
  }
  const auto dropped =
      least_recent(std::move(idle), to_drop_of(patterns_.size(), limits_.footprints, heavy));
  const std::unordered_set<PatternId> gone(dropped.begin(), dropped.end());
  std::erase_if(pattern_by_key_, [&](const auto& entry) { return gone.count(entry.second) != 0; });
  for (const PatternId id : dropped) {
    const auto pattern = patterns_.find(id);
    listed_ranges_ -= pattern->second.listed_ranges;
    patterns_.erase(pattern);
  }
  return dropped;
}

void LaunchTable::drop_footprints() {
  std::unordered_set<FootprintId> needed;
  for (const auto& [id, pattern] : patterns_) {
    if (pattern.footprint) needed.insert(*pattern.footprint);
  }
  std::vector<std::pair<uint64_t, FootprintId>> idle;
  for (const auto& [id, footprint] : footprints_) {
    const bool about_to_be_launched = footprint.last_used == step_;
    if (needed.count(id) == 0 && !about_to_be_launched) {
      idle.emplace_back(footprint.last_used, id);
    }
  }
  const auto dropped =
      least_recent(std::move(idle), to_drop(footprints_.size(), limits_.footprints));
  const std::unordered_set<FootprintId> gone(dropped.begin(), dropped.end());
  std::erase_if(footprint_by_hash_,
                [&](const auto& entry) { return gone.count(entry.second) != 0; });
  for (const FootprintId id : dropped)
    footprints_.erase(id);
  footprint_use_.evictions += dropped.size();
}

}  // namespace sluice::dro
