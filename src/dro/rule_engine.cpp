#include "dro/rule_engine.hpp"

#include <algorithm>
#include <utility>

namespace sluice::dro {
namespace {

// Superseded launches order nothing that others do not order; so many of one state are still
// named as masters, because a read may see their bytes.
constexpr uint64_t most_superseded = 64;

uint64_t pair_key(uint32_t high, uint32_t low) {
  return (uint64_t{high} << 32) | low;
}

}  // namespace

const RuleEngine::Transition& RuleEngine::resolve(StateId state, InternedId slave) {
  const uint64_t key = pair_key(state, slave);
  const auto known = transitions_.find(key);
  if (known != transitions_.end()) return known->second;
  return transitions_.emplace(key, find_transition(state, slave)).first->second;
}

RuleEngine::Transition RuleEngine::find_transition(StateId state, InternedId slave) {
  const State& from = states_[state];
  const InternedLaunch& master = launches_.launch(from.launch);
  const InternedLaunch& later = launches_.launch(slave);
  PatternPair pair{master.pattern, from.number, later.pattern, {}};
  for (BufferId buffer : master.buffers) {
    const auto place = std::find(later.buffers.begin(), later.buffers.end(), buffer);
    pair.slave_buffer.push_back(place == later.buffers.end()
                                    ? PatternPair::none
                                    : static_cast<uint32_t>(place - later.buffers.begin()));
  }
  const PairResult& result = builder_.resolve(pair);
  Transition transition;
  if (result.hazards.any()) transition.dro = make_dro(from, slave, result);
  transition.next = state_id(from.launch, result.next_state);
  return transition;
}

const Dro* RuleEngine::make_dro(const State& state, InternedId slave, const PairResult& pair) {
  Dro dro;
  dro.id = static_cast<DroId>(dros_.size());
  dro.master = state.launch;
  dro.slave = slave;
  dro.master_state = state.number;
  dro.hazards = pair.hazards;
  dro.retires_master = pair.retires_master;
  for (uint32_t i : pair.meeting)
    dro.buffers.push_back(launches_.launch(state.launch).buffers[i]);
  std::sort(dro.buffers.begin(), dro.buffers.end());
  dro.edges = pair.edges;
  relations_.push_back(pair.relation);
  const Dro* made = &dros_.emplace_back(std::move(dro));
  if (observer_ != nullptr) observer_->on_dro(*made);
  return made;
}

StateId RuleEngine::state_id(InternedId launch, uint32_t number) {
  if (number == LiveStateTable::retired) return retired_state;
  const auto [place, added] =
      state_by_key_.emplace(pair_key(launch, number), static_cast<StateId>(states_.size()));
  if (added) {
    const InternedLaunch& interned = launches_.launch(launch);
    const LiveState& left = builder_.states().state(interned.pattern, number);
    State state{launch, number, {}, left.superseded};
    for (size_t i = 0; i < interned.buffers.size(); ++i) {
      if (!left.buffers[i].empty()) state.buffers.push_back(interned.buffers[i]);
    }
    states_.push_back(std::move(state));
  }
  return place->second;
}

void RuleEngine::apply_changes() {
  // All groups are taken out before any is put back: one may move to where another came from.
  moving_.clear();
  for (const StateChange& change : changes_) {
    moving_.push_back(live_.detach(change.from, states_[change.from].buffers));
  }
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (changes_[i].to != retired_state) attach(changes_[i].to, moving_[i]);
  }
}

void RuleEngine::add_live(LaunchNumber number, InternedId interned) {
  const StateId state = state_id(interned, 0);
  if (states_[state].buffers.empty()) return;
  LaunchRuns launch;
  launch.add(number);
  attach(state, launch);
}

void RuleEngine::attach(StateId state, const LaunchRuns& launches) {
  live_.attach(state, states_[state].buffers, launches,
               states_[state].superseded ? most_superseded : UINT64_MAX);
}

void RuleEngine::host_write(BufferId buffer, const ByteRange& bytes) {
  changes_.clear();
  for (StateId state : live_.states_on(buffer)) {
    const StateId next = after_host_write(state, buffer, bytes);
    if (next != state) changes_.push_back({state, next});
  }
  apply_changes();
}

StateId RuleEngine::after_host_write(StateId state, BufferId buffer, const ByteRange& bytes) {
  const std::tuple key{state, buffer, bytes.first, bytes.last};
  const auto known = host_writes_.find(key);
  if (known != host_writes_.end()) return known->second;
  const InternedLaunch& interned = launches_.launch(states_[state].launch);
  const auto place = std::find(interned.buffers.begin(), interned.buffers.end(), buffer);
  LiveState left = builder_.states().state(interned.pattern, states_[state].number);
  erase(left.buffers[place - interned.buffers.begin()], byte_set(context_, bytes));
  const uint32_t number = builder_.states().number_of(interned.pattern, std::move(left));
  return host_writes_.emplace(key, state_id(states_[state].launch, number)).first->second;
}

}  // namespace sluice::dro
