#include "dro/tracker.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/assert.hpp"
#include "dro/edge_drawing.hpp"
#include "dro/interning.hpp"
#include "dro/relations.hpp"
#include "dro/rule_check.hpp"
#include "dro/rule_engine.hpp"

namespace sluice::dro {

struct DependenceTracker::State {
  State(Rule rule, Observer* heard_by)
      : observer(heard_by), launches(context), engine(rule, context, launches, &tables, heard_by) {
    if (rule == Rule::buffer) check = std::make_unique<RuleCheck>(context, launches);
  }

  // for_each_engine() does the same to the engine and to the one that checks it, if there is one.
  template <class Do>
  void for_each_engine(Do&& act) {
    act(engine);
    if (check) act(check->exact());
  }

  uint64_t bytes_of(BufferId buffer) const {
    const auto found = buffers.find(buffer);
    SLUICE_ASSERT(found != buffers.end());
    return found->second;
  }

  Observer* observer;
  IslContext context;
  LaunchTable launches;
  EdgeTableStore tables;
  RuleEngine engine;
  std::unique_ptr<RuleCheck> check;                // under the buffer rule, until it has warned
  std::unordered_map<BufferId, uint64_t> buffers;  // bytes of each
  std::vector<bool> dro_used;                      // by DroId
  Counters counters;
};

DependenceTracker::DependenceTracker(Rule rule, Observer* observer)
    : state_(std::make_unique<State>(rule, observer)) {}
DependenceTracker::~DependenceTracker() = default;

void DependenceTracker::buffer_created(BufferId buffer, uint64_t bytes) {
  SLUICE_ASSERT(buffer != 0 && state_->buffers.count(buffer) == 0);
  state_->buffers.emplace(buffer, bytes);
  state_->for_each_engine([&](RuleEngine& engine) { engine.buffer_created(buffer); });
  if (state_->observer != nullptr) state_->observer->on_buffer_created(buffer, bytes);
}

void DependenceTracker::buffer_destroyed(BufferId buffer) {
  SLUICE_ASSERT(state_->buffers.count(buffer) == 1);
  state_->buffers.erase(buffer);
  state_->for_each_engine([&](RuleEngine& engine) { engine.buffer_destroyed(buffer); });
  if (state_->observer != nullptr) state_->observer->on_buffer_destroyed(buffer);
}

Result<FootprintId> DependenceTracker::add_footprint(const analysis::Footprint& footprint) {
  const auto added = state_->launches.add_footprint(footprint);
  if (!added) return tl::unexpected(added.error());
  const auto [id, is_new] = *added;
  if (is_new) {
    ++state_->counters.footprints;
    if (state_->observer != nullptr) state_->observer->on_footprint(id, footprint);
  }
  return id;
}

void DependenceTracker::launch(const LaunchEntry& entry, std::vector<Dependence>& dependences) {
  const InternedId interned =
      state_->launches.intern(entry.footprint, entry.arguments,
                              [this](BufferId buffer) { return state_->bytes_of(buffer); });
  const size_t begin = dependences.size();
  state_->engine.launch(entry.number, interned, [&](LaunchNumber master, const Dro* dro) {
    dependences.push_back({master, entry.number, dro, false});
  });
  const auto first = dependences.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(first, dependences.end(),
            [](const Dependence& a, const Dependence& b) { return a.master < b.master; });

  Counters& counters = state_->counters;
  state_->dro_used.resize(state_->engine.dro_count());
  for (auto it = first; it != dependences.end(); ++it) {
    it->hit = state_->dro_used[it->dro->id];
    state_->dro_used[it->dro->id] = true;
    counters.dro_hits += it->hit ? 1 : 0;
    counters.edges += state_->tables.table(it->dro->edges).edge_count;
  }
  ++counters.launches;
  counters.interned = state_->launches.launch_count();
  counters.dros = state_->engine.dro_count();
  counters.resolved += dependences.size() - begin;
  counters.edge_tables = state_->tables.size();
  const auto found = std::span<const Dependence>(dependences).subspan(begin);
  if (state_->check) {
    const auto lost = state_->check->launch(entry.number, interned, state_->engine, found);
    if (lost && state_->observer != nullptr) state_->observer->on_warning(*lost);
    if (lost) state_->check.reset();
  }
  if (state_->observer != nullptr) {
    state_->observer->on_launch(entry, interned, found);
  }
}

void DependenceTracker::opaque_launch(LaunchNumber number, const std::string& reason) {
  state_->for_each_engine([](RuleEngine& engine) { engine.retire_all(); });
  if (state_->observer != nullptr) state_->observer->on_opaque_launch(number, reason);
}

void DependenceTracker::host_write(BufferId buffer, uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  const ByteRange bytes{static_cast<int64_t>(begin), static_cast<int64_t>(end) - 1};
  state_->for_each_engine([&](RuleEngine& engine) { engine.host_write(buffer, bytes); });
  if (state_->observer != nullptr) state_->observer->on_host_write(buffer, begin, end);
}

const EdgeTable& DependenceTracker::edge_table(EdgeTableId id) const {
  return state_->tables.table(id);
}

uint64_t DependenceTracker::pairs_composed() const {
  return state_->engine.composed();
}

const DependenceTracker::Counters& DependenceTracker::counters() const {
  return state_->counters;
}

}  // namespace sluice::dro
