// The rule engine: live launches under one rule, and the memory of every pair met so far.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "dro/dro_builder.hpp"
#include "dro/fan_in.hpp"
#include "dro/interning.hpp"
#include "dro/tracker.hpp"

namespace sluice::dro {

// RuleEngine keeps the buffers' state and finds the fan-in of each launch. Not thread-safe.
class RuleEngine {
 public:
  // With a store, DROs are drawn and told to `observer`; without, only relations are found.
  RuleEngine(Rule rule, IslContext& context, const LaunchTable& launches, EdgeTableStore* store,
             Observer* observer)
      : context_(context),
        launches_(launches),
        builder_(rule, context, launches, store, observer),
        observer_(observer) {}

  void buffer_created(BufferId buffer) { live_.add_buffer(buffer); }
  void buffer_destroyed(BufferId buffer) { live_.remove_buffer(buffer); }

  // launch() hands each dependence to `edge(master, dro)` and makes the launch live.
  template <class Edge>
  void launch(LaunchNumber number, InternedId interned, Edge&& edge) {
    changes_.clear();
    fan_in(
        live_, launches_.launch(interned).buffers,
        [&](StateId state) -> const Transition& { return resolve(state, interned); }, edge,
        changes_);
    apply_changes();
    add_live(number, interned);
  }

  void retire_all() { live_.clear(); }
  void host_write(BufferId buffer, const ByteRange& bytes);

  size_t dro_count() const { return dros_.size(); }
  // composed() is how many pairs of launches isl was asked about.
  size_t composed() const { return builder_.composed(); }
  // relation() is { B[slave] -> B[master] } of a DRO of this engine.
  const isl::map& relation(const Dro& dro) const { return relations_[dro.id]; }

 private:
  struct Transition {
    const Dro* dro = nullptr;
    StateId next = 0;
  };
  // State is one (interned launch, what is left of it).
  struct State {
    InternedId launch = 0;
    uint32_t number = 0;            // of LiveStateTable
    std::vector<BufferId> buffers;  // those with anything live
    bool superseded = false;
  };

  const Transition& resolve(StateId state, InternedId slave);
  Transition find_transition(StateId state, InternedId slave);
  const Dro* make_dro(const State& state, InternedId slave, const PairResult& pair);
  StateId state_id(InternedId launch, uint32_t number);
  StateId after_host_write(StateId state, BufferId buffer, const ByteRange& bytes);
  void apply_changes();
  void add_live(LaunchNumber number, InternedId interned);
  void attach(StateId state, const LaunchRuns& launches);

  IslContext& context_;
  const LaunchTable& launches_;
  DroBuilder builder_;
  Observer* observer_;
  LiveLaunches live_;
  std::deque<State> states_;
  std::unordered_map<uint64_t, StateId> state_by_key_;
  std::unordered_map<uint64_t, Transition> transitions_;  // by (state, slave)
  std::map<std::tuple<StateId, BufferId, int64_t, int64_t>, StateId> host_writes_;
  std::deque<Dro> dros_;
  std::deque<isl::map> relations_;  // by DroId
  std::vector<StateChange> changes_;
  std::vector<LaunchRuns> moving_;
};

}  // namespace sluice::dro
