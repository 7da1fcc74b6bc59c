#include "dro/rule/rule_engine.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace sluice::dro {
namespace {

// Superseded launches order nothing that others do not order; so many of one state are still
// named as masters, because a read may see their bytes.
constexpr uint64_t most_superseded = 64;

// What a state takes that a launch meets for the first time, beside its bytes; and a DRO.
constexpr uint64_t steps_of_look = 48;
constexpr uint64_t steps_of_dro = 32;

}  // namespace

const RuleEngine::Transition& RuleEngine::search(Node& node, StateId state, LaunchSlot slave,
                                                 Budget& budget) {
  std::vector<Transition>& known = node.transitions;
  auto place = node.place_of.find(state);
  if (place == node.place_of.end()) {
    if (!budget.take(steps_of_look, sizeof(Transition))) return nothing_;
    Transition found = find_transition(state, slave, budget);
    // What is left when the budget ends is no answer.
    if (budget.is_spent()) return nothing_;
    // A launch may never come again, as where a number changes each time. That it shares no byte
    // with most others is remembered when it comes for the second time.
    if (!found.dro && found.next == state && !node.has_intact) return apart_ = std::move(found);
    place = node.place_of.emplace(state, known.size()).first;
    known.push_back(std::move(found));
    ++transition_count_;
  }
  node.cursor = place->second + 1;
  return known[place->second];
}

bool RuleEngine::knows(LaunchSlot slot) const {
  if (slot >= nodes_.size() || !nodes_[slot].has_intact) return false;
  const Node& node = nodes_[slot];
  size_t cursor = 0;
  const auto is_known = [&](StateId state) {
    if (cursor < node.transitions.size() && node.transitions[cursor].state == state) {
      ++cursor;
      return true;
    }
    return node.place_of.contains(state);
  };
  return std::ranges::all_of(launches_.launch(slot).places, [&](const BufferPlace& place) {
    return live_.all_meeting(place, is_known);
  });
}

RuleEngine::Transition RuleEngine::find_transition(StateId state, LaunchSlot slave,
                                                   Budget& budget) {
  const State& from = states_[state];
  const InternedLaunch& master = launches_.launch(from.launch);
  const InternedLaunch& later = launches_.launch(slave);
  PatternPair& pair = kept_.pair;
  pair.master = master.pattern;
  pair.master_state = from.number;
  pair.slave = later.pattern;
  pair.slave_buffer.clear();
  // Buffers are compared each with each.
  if (!budget.take(master.buffers.size() * later.buffers.size() / 16)) return {};
  for (BufferId buffer : master.buffers) {
    const auto place = std::find(later.buffers.begin(), later.buffers.end(), buffer);
    pair.slave_buffer.push_back(place == later.buffers.end()
                                    ? PatternPair::none
                                    : static_cast<uint32_t>(place - later.buffers.begin()));
  }
  Transition transition;
  transition.state = state;
  if (DroBuilder::are_apart(pair, *from.left, launches_.patterns().at(later.pattern), budget)) {
    transition.next = state;
    return transition;
  }
  const PairResult& result = builder_.resolve(pair, budget);
  if (!budget.take(steps_of_dro, sizeof(KnownDro))) return {};
  if (result.hazards.any()) transition.dro = make_dro(from, slave, result);
  transition.next = state_id(from.launch, result.next_state);
  return transition;
}

std::unique_ptr<KnownDro> RuleEngine::make_dro(const State& state, LaunchSlot slave,
                                               const PairResult& pair) {
  const InternedLaunch& master = launches_.launch(state.launch);
  auto dro = std::make_unique<KnownDro>();
  dro->master = master.id;
  dro->slave = launches_.launch(slave).id;
  dro->master_state = state.number;
  dro->hazards = pair.hazards;
  dro->retires_master = pair.retires_master;
  for (uint32_t i : pair.meeting)
    dro->buffers.push_back(master.buffers[i]);
  std::sort(dro->buffers.begin(), dro->buffers.end());
  dro->host_master = master.host;
  if (master.host || launches_.launch(slave).host) return dro;
  dro->id = next_dro_++;
  dro->edges = pair.edges;
  dro->edge_count = pair.edge_count;
  dro->relation = pair.relation;
  if (observer_ != nullptr) observer_->note(DroRecord{*dro});
  return dro;
}

StateId RuleEngine::state_id(LaunchSlot launch, uint32_t number) {
  if (number == LiveStateTable::retired) return retired_state;
  if (nodes_.size() <= launch) nodes_.resize(launch + 1);
  const auto [known, added] = nodes_[launch].states.try_emplace(number);
  if (!added) return known->second;
  const InternedLaunch& interned = launches_.launch(launch);
  const LiveState& left = builder_.states().state(interned.pattern, number);
  State state{launch, number, &left, {}, left.superseded, false};
  size_t at = 0;  // the places of a launch are in the order of its buffers
  for (const BufferPlace& touched : interned.places) {
    while (interned.buffers[at] != touched.buffer)
      ++at;
    const auto hull = left.buffers[at].hull();
    if (hull) state.places.push_back({touched.buffer, touched.slot, *hull});
  }
  StateId id = static_cast<StateId>(states_.size());
  if (free_states_.empty()) {
    states_.push_back(std::move(state));
  } else {
    id = free_states_.back();
    free_states_.pop_back();
    states_[id] = std::move(state);
  }
  known->second = id;
  return id;
}

void RuleEngine::apply_changes() {
  // All groups are taken out before any is put back: one may move to where another came from.
  kept_.moving.clear();
  for (const StateChange& change : kept_.changes) {
    if (change.to == retired_state) {
      live_.retire(change.from);
    } else {
      kept_.moving.push_back(live_.detach(change.from));
    }
  }
  auto moved = kept_.moving.begin();
  for (const StateChange& change : kept_.changes) {
    if (change.to == retired_state) continue;
    const State& state = states_[change.to];
    live_.attach(change.to, state.places, std::move(*moved++),
                 state.superseded ? most_superseded : UINT64_MAX);
  }
}

bool RuleEngine::live(LaunchSlot slot) const {
  if (slot >= nodes_.size()) return false;
  const auto& states = nodes_[slot].states;
  return std::any_of(states.begin(), states.end(),
                     [this](const auto& state) { return live_.live(state.second); });
}

void RuleEngine::free_state(StateId state) {
  live_.forget(state);
  states_[state] = {};
  states_[state].free = true;
  free_states_.push_back(state);
}

void RuleEngine::drop(const LaunchTable::Dropped& dropped) {
  for (const LaunchSlot slot : dropped.launches) {
    if (slot >= nodes_.size()) continue;
    // In order of their numbers, so that a replay hands freed numbers out in the same order.
    std::vector<StateId> states;
    for (const auto& [number, state] : nodes_[slot].states)
      states.push_back(state);
    std::sort(states.begin(), states.end());
    for (const StateId state : states)
      free_state(state);
    nodes_[slot] = {};
  }
  drop_transitions();
  const auto count = [this] { return states_.size() - free_states_.size(); };
  const bool too_many =
      state_bound_.is_passed_by(count()) || range_bound_.is_passed_by(builder_.states().ranges());
  if (too_many) drop_states();
  state_bound_.leave(count());
  transition_bound_.leave(transition_count_);
  forget_pairs(dropped.patterns);
  range_bound_.leave(builder_.states().ranges());
}

void RuleEngine::forget_pairs(const std::vector<PatternId>& patterns) {
  std::unordered_set<uint64_t> named;
  const auto name = [](PatternId pattern, uint32_t number) {
    return uint64_t{pattern} << 32U | number;
  };
  for (const State& state : states_) {
    if (!state.free) named.insert(name(launches_.launch(state.launch).pattern, state.number));
  }
  builder_.drop(patterns, [&](PatternId pattern, uint32_t number) {
    return named.contains(name(pattern, number));
  });
}

// Transitions of states that are gone go. Where there are too many, so do all from states that are
// not live now; pairs that isl has computed are remembered elsewhere.
void RuleEngine::drop_transitions() {
  const bool too_many = transition_bound_.is_passed_by(transition_count_);
  const auto gone = [&](const Transition& transition) {
    return states_[transition.state].free ||
           (transition.next != retired_state && states_[transition.next].free) ||
           (too_many && !live_.live(transition.state));
  };
  transition_count_ = 0;
  for (Node& node : nodes_) {
    std::erase_if(node.transitions, gone);
    node.place_of.clear();
    for (size_t i = 0; i < node.transitions.size(); ++i)
      node.place_of[node.transitions[i].state] = i;
    transition_count_ += node.transitions.size();
  }
}

// States go that are not live and that no launch is remembered to meet or to leave.
void RuleEngine::drop_states() {
  std::vector<bool> needed(states_.size());
  for (const Node& node : nodes_) {
    if (node.has_intact) needed[node.intact] = true;
    for (const Transition& transition : node.transitions) {
      if (!live_.live(transition.state)) continue;
      needed[transition.state] = true;
      if (transition.next != retired_state) needed[transition.next] = true;
    }
  }
  for (StateId id = 0; id < states_.size(); ++id) {
    if (states_[id].free || needed[id] || live_.live(id)) continue;
    nodes_[states_[id].launch].states.erase(states_[id].number);
    free_state(id);
  }
  drop_transitions();
}

}  // namespace sluice::dro
