// Values by their content, of which those used least recently are dropped where there are too many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dro/launches/cache_limits.hpp"
#include "dro/launches/eviction.hpp"

namespace sluice::dro {

// Bound says when a table holds too much: more than its limit, or than twice what the last drop had
// to leave.
class Bound {
 public:
  explicit Bound(uint64_t limit) : limit_(limit), most_(limit) {}
  bool is_passed_by(uint64_t size) const { return size > most_; }
  void leave(uint64_t size) { most_ = std::max(limit_, 2 * size); }
  uint64_t limit() const { return limit_; }

 private:
  uint64_t limit_;
  uint64_t most_;
};

// RecentTable finds values by keys, and gives each an id, counted from 0 in the order in which they
// came. A value that was dropped and comes again gets a new id. Values stay where they are. `step`
// is the user's count of uses, and never time, so that a replay drops the same. Not thread-safe.
template <class Key, class Value, class Hash>
class RecentTable {
 public:
  using Id = uint32_t;

  explicit RecentTable(uint64_t limit) : bound_(limit) {}

  // find() counts a hit or a miss.
  std::optional<Id> find(const Key& key, uint64_t step) {
    const auto known = ids_.find(key);
    ++(known == ids_.end() ? use_.misses : use_.hits);
    if (known == ids_.end()) return std::nullopt;
    entries_.at(known->second).last_used = step;
    return known->second;
  }
  Id add(Key key, Value value, uint64_t step) {
    const Id id = next_++;
    const auto place = ids_.emplace(std::move(key), id).first;
    entries_.emplace(id, Entry{std::move(value), &place->first, step});
    return id;
  }

  bool has(Id id) const { return id < next_ && (use_.evictions == 0 || entries_.contains(id)); }
  Value& at(Id id) { return entries_.at(id).value; }
  const Value& at(Id id) const { return entries_.at(id).value; }
  const Key& key(Id id) const { return *entries_.at(id).key; }
  void use(Id id, uint64_t step) { entries_.at(id).last_used = step; }
  uint64_t last_use(Id id) const { return entries_.at(id).last_used; }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [id, entry] : entries_)
      visit(id, entry.value);
  }

  bool is_crowded() const { return bound_.is_passed_by(entries_.size()); }
  // drop() takes out what is_gone(id) says and, where there are too many left, half of them, or
  // where `heavy` in any case, but none that is_needed(id). It returns what went.
  template <class Gone, class Needed>
  std::vector<Id> drop(Gone&& is_gone, Needed&& is_needed, bool heavy = false) {
    std::vector<Id> dropped;
    std::vector<std::pair<uint64_t, Id>> idle;
    for (const auto& [id, entry] : entries_) {
      if (is_gone(id)) {
        dropped.push_back(id);
      } else if (!is_needed(id)) {
        idle.emplace_back(entry.last_used, id);
      }
    }
    const size_t left = entries_.size() - dropped.size();
    const auto oldest = least_recent(std::move(idle), to_drop(left, bound_.limit(), heavy));
    dropped.insert(dropped.end(), oldest.begin(), oldest.end());
    for (const Id id : dropped) {
      const auto entry = entries_.find(id);
      ids_.erase(ids_.find(*entry->second.key));
      entries_.erase(entry);
    }
    use_.evictions += dropped.size();
    bound_.leave(entries_.size());
    return dropped;
  }

  const CacheUse& use() const { return use_; }

 private:
  struct Entry {
    Value value;
    const Key* key = nullptr;
    uint64_t last_used = 0;
  };
  Bound bound_;
  std::unordered_map<Key, Id, Hash> ids_;
  std::unordered_map<Id, Entry> entries_;
  Id next_ = 0;
  CacheUse use_;
};

}  // namespace sluice::dro
