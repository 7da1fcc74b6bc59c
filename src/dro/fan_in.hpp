// Fan-in: which live launches a launch waits for. The one place where this is computed: the live
// runtime and the offline replay both come here.
//
// Live launches of equal state (the same interned launch, of which later launches left the same)
// form one group, so a launch costs one look-up for each group that is live on its buffers,
// however many launches are in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dro/launch_runs.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

// StateId numbers the pairs (interned launch, what is left of it).
using StateId = uint32_t;
constexpr StateId retired_state = UINT32_MAX;

// LiveLaunches is the state of all buffers: which groups are live on each.
class LiveLaunches {
 public:
  void add_buffer(BufferId buffer) { states_of_buffer_[buffer]; }

  // remove_buffer() forgets the accesses to a buffer; launches live on no other are gone.
  void remove_buffer(BufferId buffer) {
    for (StateId state : states_of_buffer_[buffer]) {
      if (--groups_[state].buffer_count == 0) groups_[state].launches = {};
    }
    states_of_buffer_.erase(buffer);
  }

  void clear() {
    for (auto& [buffer, states] : states_of_buffer_)
      states.clear();
    for (Group& group : groups_)
      group = {};
  }

  // states_on() lists the states live on a buffer; none where the buffer is unknown.
  std::span<const StateId> states_on(BufferId buffer) const {
    const auto found = states_of_buffer_.find(buffer);
    return found == states_of_buffer_.end() ? std::span<const StateId>() : found->second;
  }
  const LaunchRuns& launches(StateId state) const { return groups_[state].launches; }

  // first_visit() is true the first time that it is asked in one round.
  void start_round() { ++round_; }
  bool first_visit(StateId state) { return std::exchange(groups_[state].round, round_) != round_; }

  // attach() adds launches to a state that is live on `buffers`; of more than `most` it keeps the
  // last. detach() takes a state's launches out.
  void attach(StateId state, std::span<const BufferId> buffers, const LaunchRuns& launches,
              uint64_t most = UINT64_MAX) {
    if (groups_.size() <= state) groups_.resize(state + 1);
    Group& group = groups_[state];
    if (group.launches.empty()) {
      for (BufferId buffer : buffers) {
        const auto found = states_of_buffer_.find(buffer);
        if (found == states_of_buffer_.end()) continue;
        found->second.push_back(state);
        ++group.buffer_count;
      }
      if (group.buffer_count == 0) return;
    }
    group.launches.add(launches);
    group.launches.keep_last(most);
  }
  LaunchRuns detach(StateId state, std::span<const BufferId> buffers) {
    for (BufferId buffer : buffers) {
      const auto found = states_of_buffer_.find(buffer);
      if (found == states_of_buffer_.end()) continue;
      std::vector<StateId>& states = found->second;
      states.erase(std::find(states.begin(), states.end(), state));
    }
    groups_[state].buffer_count = 0;
    return std::exchange(groups_[state].launches, {});
  }

 private:
  struct Group {
    LaunchRuns launches;
    uint64_t round = 0;
    uint32_t buffer_count = 0;  // living buffers whose list names this state
  };

  std::unordered_map<BufferId, std::vector<StateId>> states_of_buffer_;
  std::vector<Group> groups_;  // by StateId
  uint64_t round_ = 0;
};

// StateChange says that what is left of a group's launches changes.
struct StateChange {
  StateId from = 0;
  StateId to = 0;  // or retired_state
};

// fan_in() meets a launch, given as the buffers its arguments point into, with all that is live on
// them. For each live state, once, `resolve(state)` answers with a transition: a record that has
// `dro` (nullptr: no dependence) and `next` (the state that the launch leaves). Each dependence is
// handed to `edge(master, dro)`; each change of state is appended to `changes`, for the caller to
// apply once the launch as a whole has been met.
template <class Resolve, class Edge>
void fan_in(LiveLaunches& live, std::span<const BufferId> buffers, Resolve&& resolve, Edge&& edge,
            std::vector<StateChange>& changes) {
  live.start_round();
  for (BufferId buffer : buffers) {
    for (StateId state : live.states_on(buffer)) {
      if (!live.first_visit(state)) continue;
      const auto& transition = resolve(state);
      if (transition.dro != nullptr) {
        live.launches(state).for_each([&](LaunchNumber master) { edge(master, transition.dro); });
      }
      if (transition.next != state) changes.push_back({state, transition.next});
    }
  }
}

}  // namespace sluice::dro
