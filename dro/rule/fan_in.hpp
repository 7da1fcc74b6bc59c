// Fan-in: which live launches a launch waits for. The one place where this is computed: the live
// runtime and the offline replay both come here.
//
// A launch costs one look-up for each group of live launches whose bytes it may meet, however many
// launches are in the group, however many groups are live elsewhere, and whatever the grid.
#pragma once

#include <span>
#include <vector>

#include "dro/launches/live_launches.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

// StateChange says that what is left of a group's launches changes.
struct StateChange {
  StateId from = 0;
  StateId to = 0;  // or retired_state
};

// fan_in() meets a launch, given as the places in buffers that it touches, with all that is live
// there. For each live state, once, `resolve(state)` answers with a transition: a record that has
// `dro` (null: no dependence) and `next` (the state that the launch leaves). Each dependence is
// handed to `edge(master, transition)`; each change of state is appended to `changes`, for the
// caller to apply once the launch as a whole has been met.
template <class Resolve, class Edge>
void fan_in(LiveLaunches& live, std::span<const BufferPlace> places, Resolve&& resolve, Edge&& edge,
            std::vector<StateChange>& changes) {
  live.start_round();
  for (const BufferPlace& place : places) {
    live.for_each_meeting(place, [&](StateId state) {
      const auto& transition = resolve(state);
      if (transition.dro) {
        live.launches(state).for_each([&](LaunchNumber master) { edge(master, transition); });
      }
      if (transition.next != state) changes.push_back({state, transition.next});
    });
  }
}

}  // namespace sluice::dro
