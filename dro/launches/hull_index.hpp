// Which states touch some bytes of one buffer: an index of byte hulls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <boost/icl/interval_map.hpp>

#include "base/number/range.hpp"

namespace sluice::dro {

// StateId numbers the pairs (interned launch, what is left of it).
using StateId = uint32_t;
constexpr StateId retired_state = UINT32_MAX;

// HullIndex holds states by their hulls. A few are simply listed, which is quickest; more lie in a
// Boost.ICL interval map. A hull that crosses many intervals of the map, or any that many others
// cross, stays in the list: so the map holds at most some hundred entries for each state. Not
// thread-safe.
class HullIndex {
 public:
  size_t size() const { return listed_.size() + mapped_; }
  // Equal indexes are visited in the same order.
  friend bool operator==(const HullIndex&, const HullIndex&) = default;

  void insert(StateId state, const Range& hull) {
    if (listed_.size() < most_listed) {
      listed_.push_back({hull, state});
      return;
    }
    if (mapped_ == 0) map_listed();
    insert_beyond_few({hull, state});
  }

  // erase() takes out a state that was inserted with this hull.
  void erase(StateId state, const Range& hull) {
    const auto place = std::find_if(listed_.begin(), listed_.end(),
                                    [&](const Entry& entry) { return entry.state == state; });
    if (place != listed_.end()) {
      listed_.erase(place);
    } else {
      map_.subtract({interval(hull), States{{state}}});
      --mapped_;
    }
  }

  // visit() calls visitor(state) for each state whose hull meets `bytes`; for some more than once.
  // The visitor must not change the index.
  template <class Visitor>
  void visit(const Range& bytes, Visitor&& visitor) const {
    for (const Entry& entry : listed_) {
      if (entry.hull.meets(bytes)) visitor(entry.state);
    }
    if (mapped_ == 0) return;
    const auto [begin, end] = map_.equal_range(interval(bytes));
    for (auto it = begin; it != end; ++it) {
      for (const StateId state : it->second.ids)
        visitor(state);
    }
  }

  template <class Visitor>
  void visit_all(Visitor&& visitor) const {
    constexpr int64_t widest = std::numeric_limits<int64_t>::max();
    visit({-widest, widest}, visitor);
  }

 private:
  static constexpr size_t most_listed = 32;
  static constexpr size_t most_crossed = 64;

  struct Entry {
    Range hull;
    StateId state;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  // States is a sorted set, as a value that ICL can add and subtract.
  struct States {
    std::vector<StateId> ids;
    States& operator+=(const States& others) {
      for (const StateId state : others.ids) {
        const auto place = std::lower_bound(ids.begin(), ids.end(), state);
        if (place == ids.end() || *place != state) ids.insert(place, state);
      }
      return *this;
    }
    States& operator-=(const States& others) {
      for (const StateId state : others.ids) {
        const auto place = std::lower_bound(ids.begin(), ids.end(), state);
        if (place != ids.end() && *place == state) ids.erase(place);
      }
      return *this;
    }
    friend bool operator==(const States&, const States&) = default;
  };
  using Map = boost::icl::interval_map<int64_t, States>;

  static Map::interval_type interval(const Range& bytes) {
    return Map::interval_type::right_open(bytes.begin, bytes.end);
  }

  void map_listed() {
    std::vector<Entry> entries;
    std::swap(entries, listed_);
    for (const Entry& entry : entries)
      insert_beyond_few(entry);
  }

  void insert_beyond_few(const Entry& entry) {
    const auto [begin, end] = map_.equal_range(interval(entry.hull));
    size_t crossed = 0;  // an interval that is cut has its states twice
    for (auto it = begin; it != end && crossed <= most_crossed; ++it)
      crossed += it->second.ids.size();
    if (crossed > most_crossed) {
      listed_.push_back(entry);
    } else {
      map_.add({interval(entry.hull), States{{entry.state}}});
      ++mapped_;
    }
  }

  std::vector<Entry> listed_;
  Map map_;
  size_t mapped_ = 0;
};

}  // namespace sluice::dro
