// Live launches: which groups of launches still have live bytes, and in which buffers.
//
// Launches of equal state (the same interned launch, of which later launches left the same) form
// one group. A group that ran empty keeps its place in the indexes, since programs repeat: so a
// repeat launch changes no index. Places of empty groups are swept when they outnumber the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "dro/launches/hull_index.hpp"
#include "dro/launches/launch_runs.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

// BufferSlot is a living buffer's place in tables; another buffer may get it afterwards.
using BufferSlot = uint32_t;

// BufferPlace says where accesses lie: within `hull` of a buffer.
struct BufferPlace {
  BufferId buffer = 0;
  BufferSlot slot = 0;
  Range hull;
};

// LiveLaunches is the state of all buffers. Not thread-safe.
class LiveLaunches {
 public:
  void add_buffer(BufferSlot slot, BufferId buffer) {
    if (buffers_.size() <= slot) buffers_.resize(slot + 1);
    buffers_[slot].id = buffer;
  }

  // remove_buffer() forgets the accesses to a buffer; launches live on no other are gone.
  void remove_buffer(BufferSlot slot) {
    std::vector<StateId> states;
    buffers_[slot].index.visit_all([&](StateId state) { states.push_back(state); });
    for (const StateId state : states) {
      Group& group = groups_[state];
      std::erase_if(group.places, [slot](const BufferPlace& place) { return place.slot == slot; });
      if (group.places.empty()) group.launches.clear();
    }
    buffers_[slot] = {};
  }

  // clear() forgets all accesses; the buffers stay. It costs nothing where none came since the
  // last, and else no more than those did, however many states there are.
  void clear() {
    if (std::exchange(is_clear_, true)) return;
    for (Buffer& buffer : buffers_) {
      buffer.index.visit_all([this](StateId state) { groups_[state].forget(); });
      buffer.index = {};
    }
    crowd_ = 0;
  }

  // forget_before() forgets launches below `oldest`, when they are next met.
  void forget_before(LaunchNumber oldest) {
    oldest_ = oldest;
    most_met_ = 0;
  }
  // most_met() is how many states that live a place has met at most since then.
  size_t most_met() const { return most_met_; }

  // crowd() is the most states that the index of a buffer holds, live or not.
  size_t crowd() const { return crowd_; }

  bool live(StateId state) const {
    return state < groups_.size() && !groups_[state].launches.empty();
  }
  const LaunchRuns& launches(StateId state) const { return groups_[state].launches; }

  void start_round() { ++round_; }

  // for_each_meeting() calls visit(state) for the live states whose hulls meet `place`, each once
  // in a round. visit() must not attach or detach.
  template <class Visit>
  void for_each_meeting(const BufferPlace& place, Visit&& visit) {
    size_t live = 0, empty = 0;
    buffers_[place.slot].index.visit(place.hull, [&](StateId state) {
      Group& group = groups_[state];
      if (std::exchange(group.round, round_) == round_) return;
      if (oldest_ != 0) group.launches.drop_before(oldest_);
      ++(group.launches.empty() ? empty : live);
      if (!group.launches.empty()) visit(state);
    });
    most_met_ = std::max(most_met_, live);
    if (empty > 2 * live + 16) sweep(place.slot);
  }

  // all_meeting() is whether `holds(state)` is true of all these states, of some asked twice.
  template <class Holds>
  bool all_meeting(const BufferPlace& place, Holds&& holds) const {
    bool all = true;
    buffers_[place.slot].index.visit(place.hull, [&](StateId state) {
      all = all && (groups_[state].launches.empty() || holds(state));
    });
    return all;
  }

  // attach() adds launches to a state; of more than `most` it keeps the last. `places` says where
  // the state's live bytes lie, and is the same each time.
  void attach(StateId state, std::span<const BufferPlace> places, LaunchRuns&& launches,
              uint64_t most = UINT64_MAX) {
    Group& group = indexed(state, places);
    if (group.places.empty()) return;
    group.launches.add(std::move(launches));
    group.launches.keep_last(most);
  }
  void attach(StateId state, std::span<const BufferPlace> places, LaunchNumber launch) {
    Group& group = indexed(state, places);
    if (!group.places.empty()) group.launches.add(launch);
  }

  // repeat() has a row of launches, of which `first` is the first number, leave what it left the
  // last time: the launches of some states are others, as far on as the row is long, and some have
  // launches of the row beside theirs, by how far they are from its first.
  struct Repeat {
    std::vector<StateId> moved;
    std::vector<std::pair<StateId, int64_t>> added;
  };
  void repeat(const Repeat& left, LaunchNumber first, uint64_t length) {
    for (const StateId state : left.moved)
      groups_[state].launches.shift(length);
    for (const auto& [state, place] : left.added)
      groups_[state].launches.add(first + static_cast<LaunchNumber>(place));
  }
  // index() is that of a buffer.
  const HullIndex& index(BufferSlot slot) const { return buffers_[slot].index; }

  // detach() takes a state's launches out.
  LaunchRuns detach(StateId state) { return std::exchange(groups_[state].launches, {}); }
  void retire(StateId state) { groups_[state].launches.clear(); }

  // forget() takes a state out of every index: its number may then mean another.
  void forget(StateId state) {
    if (state >= groups_.size()) return;
    Group& group = groups_[state];
    for (const BufferPlace& place : group.places)
      buffers_[place.slot].index.erase(state, place.hull);
    group = {};
  }

 private:
  struct Buffer {
    BufferId id = 0;
    HullIndex index;
  };
  struct Group {
    LaunchRuns launches;
    uint64_t round = 0;
    std::vector<BufferPlace> places;  // where it is indexed: in living buffers only

    void forget() {
      launches.clear();
      places.clear();
    }
  };

  Group& indexed(StateId state, std::span<const BufferPlace> places) {
    if (groups_.size() <= state) groups_.resize(state + 1);
    Group& group = groups_[state];
    if (!group.places.empty()) return group;
    is_clear_ = false;
    for (const BufferPlace& place : places) {
      if (buffers_[place.slot].id != place.buffer) continue;  // it was freed
      HullIndex& index = buffers_[place.slot].index;
      index.insert(state, place.hull);
      crowd_ = std::max(crowd_, index.size());
      group.places.push_back(place);
    }
    return group;
  }

  void sweep(BufferSlot slot) {
    std::vector<StateId> empty;
    buffers_[slot].index.visit_all([&](StateId state) {
      if (groups_[state].launches.empty()) empty.push_back(state);
    });
    for (const StateId state : empty)
      forget(state);
  }

  std::vector<Buffer> buffers_;  // by BufferSlot
  std::vector<Group> groups_;    // by StateId
  bool is_clear_ = true;         // no state is in an index
  size_t crowd_ = 0;
  uint64_t round_ = 0;
  LaunchNumber oldest_ = 0;
  size_t most_met_ = 0;
};

}  // namespace sluice::dro
