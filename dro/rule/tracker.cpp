#include "dro/rule/tracker.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/assert.hpp"
#include "dro/edges/edge_drawing.hpp"
#include "dro/launches/costs.hpp"
#include "dro/launches/interning.hpp"
#include "dro/rule/launch_row.hpp"
#include "dro/rule/rule_check.hpp"
#include "dro/rule/rule_engine.hpp"
#include "relation/isl_context.hpp"

namespace sluice::dro {
struct DependenceTracker::State {
  State(Rule rule, Observer* heard_by, const CacheLimits& its_limits)
      : limits(its_limits),
        observer(heard_by),
        launches(context, limits),
        engine(rule, context, launches, limits, &tables, heard_by) {
    if (rule == Rule::buffer) check = std::make_unique<RuleCheck>(context, launches, limits);
  }

  // for_each_engine() does the same to the engine and to the one that checks it, if there is one.
  template <class Do>
  void for_each_engine(Do&& act) {
    act(engine);
    if (check) act(check->exact());
  }
  bool is_crowded();
  void make_room(std::optional<FootprintId> wanted = {});
  void forget_before(LaunchNumber oldest);
  void clear();
  LaunchRow::Figures figures() const { return {counters.resolved, counters.edges, effort}; }
  bool is_full() const { return engine.is_full() || (check && check->exact().is_full()); }
  // count() keeps what a launch or host write has taken.
  void count(const Budget& budget) {
    effort += budget.taken().steps;
    counters.dearest_launch = Budget::larger(counters.dearest_launch, budget.taken());
  }
  void give_up(const LaunchEntry& entry, InternedId interned);
  // noted() is the id of a footprint that was added, which is told if it is new.
  FootprintId noted(std::pair<FootprintId, bool> added, const analysis::Footprint& footprint);
  void note(Record record) const {
    if (observer != nullptr) observer->note(std::move(record));
  }

  const CacheLimits limits;
  Observer* observer;
  IslContext context;
  LaunchTable launches;
  EdgeTableStore tables;
  RuleEngine engine;
  std::unique_ptr<RuleCheck> check;  // under the buffer rule, until it has warned
  HostNumber host_writes = 0;
  HostWriteRecord unsettled;  // empty: none
  std::vector<HostDependence> host_dependences;
  Counters counters;
  uint64_t effort = 0;
  uint64_t moment = 0;  // counts what may change what launches find
};

bool DependenceTracker::State::is_crowded() {
  bool crowded = launches.crowded();
  for_each_engine([&](RuleEngine& each) { crowded = crowded || each.crowded(); });
  return crowded;
}

void DependenceTracker::State::forget_before(LaunchNumber oldest) {
  if (oldest == 0 || check || engine.live_launches().most_met() <= limits.met) return;
  ++moment;
  engine.live_launches().forget_before(oldest);
}

void DependenceTracker::State::clear() {
  ++moment;
  for_each_engine([](RuleEngine& each) { each.live_launches().clear(); });
}

// make_room() keeps the caches within their limits. It depends on what was launched alone, so a
// replay drops the same at the same place.
void DependenceTracker::State::make_room(std::optional<FootprintId> wanted) {
  if (!is_crowded()) return;
  ++moment;
  if (wanted) launches.keep(*wanted);
  const auto dropped = launches.drop([this](LaunchSlot slot) {
    bool live = false;
    for_each_engine([&](RuleEngine& each) { live = live || each.live(slot); });
    return live;
  });
  for_each_engine([&](RuleEngine& each) { each.drop(dropped); });
}

DependenceTracker::DependenceTracker(Rule rule, Observer* observer, const CacheLimits& limits)
    : state_(std::make_unique<State>(rule, observer, limits)) {}
DependenceTracker::~DependenceTracker() = default;

void DependenceTracker::buffer_created(BufferId buffer, uint64_t bytes) {
  SLUICE_ASSERT(buffer != 0 && !state_->launches.buffers().has(buffer));
  settle();
  const BufferSlot slot = state_->launches.buffers().add(buffer, bytes);
  state_->for_each_engine(
      [&](RuleEngine& engine) { engine.live_launches().add_buffer(slot, buffer); });
  state_->note(BufferRecord{buffer, bytes});
}

void DependenceTracker::buffer_destroyed(BufferId buffer) {
  SLUICE_ASSERT(state_->launches.buffers().has(buffer));
  settle();
  ++state_->moment;
  const BufferSlot slot = state_->launches.remove_buffer(buffer);
  state_->for_each_engine([&](RuleEngine& engine) { engine.live_launches().remove_buffer(slot); });
  state_->note(FreeRecord{buffer});
}

FootprintId DependenceTracker::State::noted(std::pair<FootprintId, bool> added,
                                            const analysis::Footprint& footprint) {
  const auto [id, is_new] = added;
  if (is_new) {
    ++counters.footprints;
    note(FootprintRecord{id, footprint});
  }
  return id;
}

Result<FootprintId> DependenceTracker::add_footprint(const analysis::Footprint& footprint) {
  settle();
  const auto added = state_->launches.add_footprint(footprint, false);
  if (!added) return tl::unexpected(added.error());
  return state_->noted(*added, footprint);
}

std::optional<FootprintId> DependenceTracker::add_footprint_at_once(
    const analysis::Footprint& footprint) {
  settle();
  const auto added = state_->launches.add_footprint(footprint, true);
  if (!added) return std::nullopt;
  return state_->noted(*added, footprint);
}

bool DependenceTracker::has_footprint(FootprintId id) const {
  return state_->launches.footprints().has(id);
}

// give_up() retires all, as an opaque launch does: nothing is lost of what is live.
void DependenceTracker::State::give_up(const LaunchEntry& entry, InternedId interned) {
  clear();
  host_dependences.clear();
  ++counters.given_up;
  if (observer != nullptr) observer->on_given_up(entry, interned);
}

bool DependenceTracker::launch(const LaunchEntry& entry, std::vector<Dependence>& dependences,
                               KnownLaunch& known) {
  settle();
  ++state_->moment;
  state_->make_room(entry.footprint);
  state_->forget_before(entry.oldest);
  Budget budget(launch_cost);
  const LaunchSlot slot = state_->launches.intern(entry.footprint, entry.arguments, known, budget);
  const size_t begin = dependences.size();
  Counters& counters = state_->counters;
  state_->host_dependences.clear();
  const bool is_followed =
      !state_->is_full() &&
      state_->engine.launch(entry.number, slot, budget, [&](uint64_t master, const KnownDro& dro) {
        if (dro.host_master) {
          state_->host_dependences.push_back({master, dro.hazards});
          return;
        }
        dependences.push_back({master, entry.number, &dro, std::exchange(dro.used, true)});
      });
  state_->count(budget);
  if (!is_followed) {
    dependences.resize(begin);
    state_->give_up(entry, state_->launches.launch(slot).id);
    return false;
  }
  for (const Dependence& found : std::span(dependences).subspan(begin)) {
    counters.dro_hits += found.hit ? 1 : 0;
    counters.edges += static_cast<const KnownDro*>(found.dro)->edge_count;
  }
  if (dependences.size() - begin > 1) {
    std::sort(dependences.begin() + static_cast<std::ptrdiff_t>(begin), dependences.end(),
              [](const Dependence& a, const Dependence& b) { return a.master < b.master; });
  }
  if (state_->host_dependences.size() > 1) {
    std::sort(state_->host_dependences.begin(), state_->host_dependences.end(),
              [](const HostDependence& a, const HostDependence& b) { return a.number < b.number; });
  }
  ++counters.launches;
  counters.resolved += dependences.size() - begin;
  const auto found = std::span<const Dependence>(dependences).subspan(begin);
  if (state_->check) {
    Budget checking(launch_cost);
    const auto lost = state_->check->launch(entry.number, slot, found, checking);
    state_->count(checking);
    if (lost) state_->note(WarningRecord{*lost});
    if (lost) state_->check.reset();
  }
  if (state_->observer != nullptr) {
    state_->observer->on_launch(entry, state_->launches.launch(slot).id, found);
  }
  return true;
}

void DependenceTracker::begin_row(LaunchRow& row) {
  settle();
  row.begin(state_->moment, state_->figures());
}

void DependenceTracker::end_row(LaunchRow& row, LaunchNumber first) {
  row.end(state_->moment, first, state_->figures(), state_->launches, state_->engine);
}

bool DependenceTracker::repeat(LaunchRow& row, LaunchNumber first) {
  settle();
  if (!row.is_repeat_at(state_->moment) || state_->check || state_->is_crowded()) return false;
  const LaunchRow::Figures& figures = row.repeat(first, state_->engine.live_launches());
  state_->moment += row.size();
  state_->launches.use(row.slots());
  state_->effort += figures.effort;
  Counters& counters = state_->counters;
  counters.launches += row.size();
  counters.repeated += row.size();
  counters.resolved += figures.dependences;
  counters.dro_hits += figures.dependences;
  counters.edges += figures.edges;
  if (state_->observer != nullptr) state_->observer->on_row(row, first);
  return true;
}

bool DependenceTracker::knows(const LaunchEntry& entry, const KnownLaunch& known) const {
  const auto slot = state_->launches.find(entry.footprint, entry.arguments, known);
  return slot && state_->engine.knows(*slot);
}

void DependenceTracker::opaque_launch(LaunchNumber number, const std::string& reason) {
  settle();
  state_->clear();
  if (state_->observer != nullptr) state_->observer->on_opaque_launch(number, reason);
}

void DependenceTracker::host_write(BufferId buffer, uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  HostWriteRecord& last = state_->unsettled;
  if (last.buffer == buffer && begin <= last.end && last.begin <= end) {
    last = {buffer, std::min(begin, last.begin), std::max(end, last.end)};
    return;
  }
  settle();
  last = {buffer, begin, end};
}

void DependenceTracker::settle() {
  if (state_->unsettled.buffer == 0) return;
  const auto [buffer, begin, end] = std::exchange(state_->unsettled, {});
  ++state_->moment;
  state_->make_room();
  const HostAccess access{buffer, begin, end, true};
  const LaunchSlot slot = state_->launches.intern_host({&access, 1});
  const HostNumber number = ++state_->host_writes;
  // What is full, or costs too much, is retired: the driver orders the host after all of it.
  bool is_followed = !state_->is_full();
  state_->for_each_engine([&](RuleEngine& engine) {
    Budget budget(launch_cost);
    is_followed =
        is_followed && engine.launch(number, slot, budget, [](uint64_t, const KnownDro&) {});
    state_->count(budget);
  });
  if (!is_followed) state_->clear();
  state_->note(HostWriteRecord{buffer, begin, end});
}

std::span<const HostDependence> DependenceTracker::host_dependences() const {
  return state_->host_dependences;
}

const EdgeTable& DependenceTracker::edge_table(EdgeTableId id) const {
  return state_->tables.table(id);
}

uint64_t DependenceTracker::effort() const {
  return state_->effort;
}

const DependenceTracker::Counters& DependenceTracker::counters() const {
  Counters& counters = state_->counters;
  counters.interned = state_->launches.counts().interned;
  counters.edge_tables = state_->tables.size();
  counters.launch_cache = state_->launches.counts().use;
  std::tie(counters.dros, counters.pair_cache) = state_->engine.counts();
  counters.dearest_footprint = state_->launches.footprints().cost();
  counters.footprint_cache = state_->launches.footprints().cache_use();
  return counters;
}

}  // namespace sluice::dro
