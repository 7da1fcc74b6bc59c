// The rule engine: live launches under one rule, and the memory of every pair met so far.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dro/launches/interning.hpp"
#include "dro/rule.hpp"
#include "dro/rule/dro_builder.hpp"
#include "dro/rule/fan_in.hpp"
#include "dro/rule/tracker.hpp"

namespace sluice::dro {

// KnownDro is a DRO with what only its engine knows. Where one side is the host it has hazards and
// buffers, and no number and no edges.
struct KnownDro : Dro {
  isl::map relation;  // as PairResult's
  uint64_t edge_count = 0;
  bool host_master = false;
  mutable bool used = false;  // it was met before
};

// RuleEngine keeps the buffers' state and finds the fan-in of each launch. Not thread-safe.
class RuleEngine {
 public:
  // With a store, DROs are drawn and told to `observer`; without, only relations are found.
  RuleEngine(Rule rule, IslContext& context, const LaunchTable& launches, const CacheLimits& limits,
             EdgeTableStore* store, Observer* observer)
      : launches_(launches),
        builder_(rule, context, launches.patterns(), limits, store, observer),
        observer_(observer),
        state_bound_(2 * limits.launches),
        transition_bound_(8 * limits.launches) {}

  LiveLaunches& live_launches() { return live_; }

  // launch() hands each dependence to `edge(master, record)` and makes the launch live. The host's
  // accesses are launches too; `number` is then a host number. False where the budget is spent:
  // then the dependences are not all, and the caller must clear the live launches.
  template <class Edge>
  bool launch(uint64_t number, LaunchSlot slot, Budget& budget, Edge&& edge) {
    if (nodes_.size() <= slot) nodes_.resize(slot + 1);
    Node& node = nodes_[slot];
    node.cursor = 0;
    kept_.changes.clear();
    fan_in(
        live_, launches_.launch(slot).places,
        [&](StateId state) -> const Transition& { return resolve(node, state, slot, budget); },
        [&](uint64_t master, const Transition& transition) { edge(master, *transition.dro); },
        kept_.changes);
    if (budget.is_spent()) return false;
    apply_changes();
    if (!node.has_intact) {
      node.intact = state_id(slot, 0);
      node.has_intact = true;
    }
    live_.attach(node.intact, states_[node.intact].places, number);
    return true;
  }

  // knows() is whether launch() would find all that it asks for.
  bool knows(LaunchSlot slot) const;

  // live() is whether anything of a launch is live. crowded() says that drop() should be called:
  // with what the launch table dropped it forgets what belonged to that and, where there is too
  // much, what is not needed now.
  bool live(LaunchSlot slot) const;
  bool is_superseded(StateId state) const { return states_[state].superseded; }
  bool crowded() const {
    return range_bound_.is_passed_by(builder_.states().ranges()) ||
           state_bound_.is_passed_by(states_.size() - free_states_.size()) ||
           transition_bound_.is_passed_by(transition_count_) || builder_.crowded();
  }
  void drop(const LaunchTable::Dropped& dropped);
  // is_full() says that so much is live, in pieces so small, that it should be retired.
  bool is_full() const {
    return live_.crowd() > most_live || builder_.states().ranges() > 2 * most_state_ranges;
  }

  // counts() is how many DROs there are, and how often pairs of launches were known.
  std::pair<uint64_t, CacheUse> counts() const { return {next_dro_, builder_.use()}; }

 private:
  // States that the index of one buffer holds, and ranges that all states hold (64 MiB).
  static constexpr size_t most_live = 4096;
  static constexpr uint64_t most_state_ranges = uint64_t{1} << 22;

  // Transition is what a launch does to a state that it meets.
  struct Transition {
    StateId state = 0;
    StateId next = 0;
    std::unique_ptr<KnownDro> dro;  // null: it does not wait
  };
  // Node is what the engine knows of one interned launch.
  struct Node {
    std::vector<Transition> transitions;           // of this launch as slave
    std::unordered_map<StateId, size_t> place_of;  // of these, by state
    size_t cursor = 0;                             // states come in much the same order again
    std::unordered_map<uint32_t, StateId> states;  // by number: of this launch as master
    StateId intact = 0;
    bool has_intact = false;
  };
  // State is one (interned launch, what is left of it).
  struct State {
    LaunchSlot launch = 0;
    uint32_t number = 0;              // of LiveStateTable
    const LiveState* left = nullptr;  // the same, which the table keeps as long as this is not free
    std::vector<BufferPlace> places;  // where anything is live
    bool superseded = false;
    bool free = false;
  };

  const Transition& resolve(Node& node, StateId state, LaunchSlot slave, Budget& budget) {
    const std::vector<Transition>& known = node.transitions;
    const bool is_next = node.cursor < known.size() && known[node.cursor].state == state;
    const Transition& found = is_next ? known[node.cursor++] : search(node, state, slave, budget);
    const uint64_t masters = found.dro ? live_.launches(state).size() : 0;
    if (budget.take(1 + masters, masters * sizeof(Dependence))) return found;
    return nothing_;
  }
  // search() is valid until the next one.
  const Transition& search(Node& node, StateId state, LaunchSlot slave, Budget& budget);
  Transition find_transition(StateId state, LaunchSlot slave, Budget& budget);
  std::unique_ptr<KnownDro> make_dro(const State& state, LaunchSlot slave, const PairResult& pair);
  StateId state_id(LaunchSlot launch, uint32_t number);
  void forget_pairs(const std::vector<PatternId>& patterns);
  void apply_changes();
  void free_state(StateId state);
  void drop_transitions();
  void drop_states();

  const LaunchTable& launches_;
  DroBuilder builder_;
  Observer* observer_;
  LiveLaunches live_;
  std::deque<Node> nodes_;  // by LaunchSlot
  std::deque<State> states_;
  std::vector<StateId> free_states_;
  Transition apart_;
  const Transition nothing_;  // of a launch whose budget is spent, whatever it meets
  size_t transition_count_ = 0;
  Bound state_bound_;
  Bound transition_bound_;
  Bound range_bound_{most_state_ranges};
  DroId next_dro_ = 0;
  // Kept, so that a repeat launch allocates nothing.
  struct {
    PatternPair pair;
    std::vector<StateChange> changes;
    std::vector<LaunchRuns> moving;
  } kept_;
};

}  // namespace sluice::dro
