// A second implementation of fan-in with one rule changed, for the test of the gate: a launch that
// overwrites what earlier ones read does not wait for them. It stands before the real one in the
// include path of sluice_changed_rule, and nowhere else.
#pragma once

#include <span>
#include <vector>

#include "dro/launches/live_launches.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

struct StateChange {
  StateId from = 0;
  StateId to = 0;
};

template <class Resolve, class Edge>
void fan_in(LiveLaunches& live, std::span<const BufferPlace> places, Resolve&& resolve, Edge&& edge,
            std::vector<StateChange>& changes) {
  // States are gathered place by place and then met one after another.
  std::vector<StateId> states;
  live.start_round();
  for (const BufferPlace& place : places)
    live.for_each_meeting(place, [&](StateId state) { states.push_back(state); });
  for (const StateId state : states) {
    const auto& transition = resolve(state);
    const bool waits =
        transition.dro && (transition.dro->hazards.raw || transition.dro->hazards.waw);
    if (waits) live.launches(state).for_each([&](LaunchNumber m) { edge(m, transition); });
    if (transition.next != state) changes.push_back({state, transition.next});
  }
}

}  // namespace sluice::dro
