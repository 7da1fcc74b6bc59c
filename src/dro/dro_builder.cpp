#include "dro/dro_builder.hpp"

#include <algorithm>
#include <utility>

namespace sluice::dro {
namespace {

constexpr unsigned long composing_budget = 20'000'000;  // isl operations: some seconds

bool apart(const std::optional<ByteRange>& a, const std::optional<ByteRange>& b) {
  return !a || !b || a->last < b->first || b->last < a->first;
}

// Side is one launch's accesses in one hazard.
struct Side {
  const isl::map& access;
  const std::optional<ByteRange>& hull;
};

// blocks_between() relates blocks of the later access to those of the earlier one that touch the
// same byte of `live`. Should isl give up, everything waits for everything.
isl::map blocks_between(const Side& later, const Side& earlier, const isl::set& live, bool intact,
                        const isl::map& everything) {
  if (apart(later.hull, earlier.hull)) return everything.subtract(everything);
  const isl::map master = intact ? earlier.access : earlier.access.intersect_range(live);
  const isl::map edges = coalesced(later.access.apply_range(master.reverse()));
  return edges.is_null() ? everything : edges;
}

}  // namespace

const PairResult& DroBuilder::resolve(const PatternPair& pair) {
  Words key{pair.master, pair.master_state, pair.slave};
  key.insert(key.end(), pair.slave_buffer.begin(), pair.slave_buffer.end());
  const auto known = by_key_.find(key);
  if (known != by_key_.end()) return *known->second;
  const PairResult& result = results_.emplace_back(compose(pair));
  by_key_.emplace(std::move(key), &result);
  return result;
}

PairResult DroBuilder::compose(const PatternPair& pair) {
  const LaunchPattern& master = launches_.pattern(pair.master);
  const LaunchPattern& slave = launches_.pattern(pair.slave);
  const LiveState& state = states_.state(pair.master, pair.master_state);
  const bool intact = pair.master_state == 0;
  const isl::map everything = isl::map::from_domain_and_range(grid_blocks(context_, slave.grid),
                                                              grid_blocks(context_, master.grid));
  PairResult result;
  result.relation = everything.subtract(everything);
  LiveState next = state;
  {
    const IslContext::Budget budget(context_, composing_budget);
    for (uint32_t i = 0; i < pair.slave_buffer.size(); ++i) {
      if (pair.slave_buffer[i] == PatternPair::none) continue;
      const BufferAccess& earlier = master.buffers[i];
      const BufferAccess& later = slave.buffers[pair.slave_buffer[i]];
      const LiveBytes& live = state.buffers[i];
      const Side later_reads{later.reads, later.read_hull};
      const Side later_writes{later.writes, later.written_hull};
      const Side live_writes{earlier.writes, live.write_hull};
      const Side live_reads{earlier.reads, live.read_hull};
      bool meets = false;
      const auto add = [&](bool& hazard, const isl::map& edges) {
        if (yes(edges.is_empty())) return;
        hazard = meets = true;
        result.relation = result.relation.unite(edges);
      };
      add(result.hazards.raw,
          blocks_between(later_reads, live_writes, live.writes, intact, everything));
      if (rule_ == Rule::exact) {
        add(result.hazards.war,
            blocks_between(later_writes, live_reads, live.reads, intact, everything));
        add(result.hazards.waw,
            blocks_between(later_writes, live_writes, live.fresh_writes, intact, everything));
      }
      if (meets) result.meeting.push_back(i);
      retire(next.buffers[i], later, rule_);
    }
    result.relation = coalesced(result.relation);
    if (result.relation.is_null()) result.relation = everything;
  }
  const auto writes_live = [](const LiveBytes& live) { return live.write_hull.has_value(); };
  result.retires_master = std::any_of(state.buffers.begin(), state.buffers.end(), writes_live) &&
                          std::none_of(next.buffers.begin(), next.buffers.end(), writes_live);
  result.next_state = states_.number_of(pair.master, std::move(next));
  if (result.hazards.any() && store_ != nullptr) draw(pair, result);
  return result;
}

void DroBuilder::draw(const PatternPair& pair, PairResult& result) {
  bool added = false;
  result.edges =
      store_->add(draw_edges(context_, result.relation, launches_.pattern(pair.master).grid,
                             launches_.pattern(pair.slave).grid),
                  added);
  if (added && observer_ != nullptr) {
    observer_->on_edge_table(result.edges, store_->table(result.edges));
  }
}

}  // namespace sluice::dro
