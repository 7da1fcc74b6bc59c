#include "dro/rule/dro_builder.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "dro/boxes/box_edges.hpp"
#include "dro/edges/block_bytes.hpp"
#include "dro/edges/edge_forms.hpp"
#include "dro/launches/costs.hpp"

namespace sluice::dro {
namespace {

// What a pair takes beside its bytes and edges.
constexpr uint64_t steps_of_pair = 512;

bool meet_in_lists(const ByteSet& a, const ByteSet& b, Budget& budget) {
  if (!a.hull() || !b.hull() || !a.hull()->meets(*b.hull())) return false;
  if (!a.listed() || !b.listed()) return true;
  const Budget::Cost cost = a.intervals().meeting_cost(b.intervals());
  return !budget.take(cost.steps) || a.intervals().meets(b.intervals());
}

// all_blocks() is a table by which every block waits for every block.
EdgeTable all_blocks(const Dim3& master_grid, const Dim3& slave_grid) {
  return make_table(master_grid, slave_grid,
                    AllEdges{{BlockBox::of_grid(master_grid), BlockBox::of_grid(slave_grid)}});
}

}  // namespace

// Meeting is a hazard that holds in one buffer: bytes that the later launch touches are live of the
// earlier one.
struct DroBuilder::Meeting {
  uint32_t later = 0;  // buffers of the two patterns
  uint32_t earlier = 0;
  bool later_writes = false;  // else it reads
  bool earlier_writes = false;
  const ByteSet* live = nullptr;
};

const PairResult& DroBuilder::resolve(const PatternPair& pair, Budget& budget) {
  Words key{pair.master, pair.master_state, pair.slave};
  key.insert(key.end(), pair.slave_buffer.begin(), pair.slave_buffer.end());
  if (const auto known = pairs_.find(key, ++step_)) return pairs_.at(*known);
  return pairs_.at(pairs_.add(std::move(key), compose(pair, budget), step_));
}

// find_meetings() adds the hazards that hold in one buffer to `found`, and to the result.
bool DroBuilder::find_meetings(const Meeting& place, const BufferAccess& later,
                               const LiveBytes& live, PairResult& result,
                               std::vector<Meeting>& found, Budget& budget) const {
  const auto holds = [&](bool later_writes, bool earlier_writes, const ByteSet& bytes) {
    const ByteSet& touched = later_writes ? later.written_bytes : later.read_bytes;
    if (!touched.meets(bytes, context_, budget)) return false;
    found.push_back({place.later, place.earlier, later_writes, earlier_writes, &bytes});
    return true;
  };
  const size_t before = found.size();
  Hazards& hazards = result.hazards;
  hazards.raw |= holds(false, true, live.writes);
  if (rule_ == Rule::exact) {
    hazards.war |= holds(true, false, live.reads);
    hazards.waw |= holds(true, true, live.fresh_writes);
  }
  return found.size() > before;
}

bool DroBuilder::are_apart(const PatternPair& pair, const LiveState& left,
                           const LaunchPattern& slave, Budget& budget) {
  for (size_t i = 0; i < pair.slave_buffer.size(); ++i) {
    if (pair.slave_buffer[i] == PatternPair::none) continue;
    const BufferAccess& later = slave.buffers[pair.slave_buffer[i]];
    const LiveBytes& live = left.buffers[i];
    if (meet_in_lists(live.writes, later.read_bytes, budget) ||
        meet_in_lists(live.writes, later.written_bytes, budget) ||
        meet_in_lists(live.reads, later.written_bytes, budget)) {
      return false;
    }
  }
  return true;
}

PairResult DroBuilder::compose(const PatternPair& pair, Budget& whole) {
  Budget budget(whole, Budget::unlimited);
  const LaunchPattern& master = patterns_.at(pair.master);
  const LaunchPattern& slave = patterns_.at(pair.slave);
  const LiveState& state = states_.state(pair.master, pair.master_state);
  const bool host = !master.footprint || !slave.footprint;
  // The host waits, and is waited for, as a whole, so that for it only the bytes count. Its writes
  // are exact whatever the rule.
  const Rule retiring = slave.footprint ? rule_ : Rule::exact;
  PairResult result;
  LiveState next = state;
  std::vector<Meeting> meetings;
  budget.take(steps_of_pair);
  for (uint32_t i = 0; i < pair.slave_buffer.size(); ++i) {
    if (pair.slave_buffer[i] == PatternPair::none) continue;
    const BufferAccess& later = slave.buffers[pair.slave_buffer[i]];
    const Meeting place{.later = pair.slave_buffer[i], .earlier = i};
    if (find_meetings(place, later, state.buffers[i], result, meetings, budget)) {
      result.meeting.push_back(i);
    }
    retire(context_, next.buffers[i], later, retiring, budget);
  }
  if (budget.is_spent()) next = state;
  if (!host && !meetings.empty()) find_edges(pair, meetings, result, budget);
  const auto writes_live = [](const LiveBytes& live) { return !live.writes.empty(); };
  result.retires_master = std::any_of(state.buffers.begin(), state.buffers.end(), writes_live) &&
                          std::none_of(next.buffers.begin(), next.buffers.end(), writes_live);
  result.next_state = budget.is_spent() ? pair.master_state
                                        : states_.number_of(pair.master, std::move(next), budget);
  return result;
}

// find_edges() finds edges, or else their relation, in the cheapest way that can.
void DroBuilder::find_edges(const PatternPair& pair, const std::vector<Meeting>& meetings,
                            PairResult& result, Budget& budget) {
  const LaunchPattern& master = patterns_.at(pair.master);
  const LaunchPattern& slave = patterns_.at(pair.slave);
  // Those who ask for relations alone, and the check of the buffer rule, go on with isl's.
  if (store_ != nullptr && rule_ == Rule::exact) {
    std::optional<EdgeTable> table;
    if (budget.is_spent()) table = all_blocks(master.grid, slave.grid);
    if (!table && (master.strided || slave.strided))
      table = edges_of_strides(pair, meetings, shown_edges, budget);
    if (!table) table = edges_of_boxes(pair, meetings, budget);
    if (!table) table = edges_of_strides(pair, meetings, stride_edges, budget);
    if (!table) table = listed_edges(pair, meetings, budget);
    if (table) return keep(std::move(*table), result, budget);
  }
  {
    Budget part(budget, Budget::unlimited);
    result.relation = composed_edges(pair, meetings, part);
  }
  if (store_ == nullptr) return;
  Budget part(budget, Budget::unlimited);
  keep(draw_edges(context_, result.relation, master.grid, slave.grid, part), result, budget);
}

// edges_of_boxes() finds edges in closed form between boxed patterns.
std::optional<EdgeTable> DroBuilder::edges_of_boxes(const PatternPair& pair,
                                                    const std::vector<Meeting>& meetings,
                                                    Budget& whole) {
  const LaunchPattern& master = patterns_.at(pair.master);
  const LaunchPattern& slave = patterns_.at(pair.slave);
  Budget budget(whole, Budget::unlimited);
  if (!patterns_.is_boxed(pair.master, budget) || !patterns_.is_boxed(pair.slave, budget))
    return std::nullopt;
  std::vector<BoxMeeting> boxes;
  for (const Meeting& meeting : meetings) {
    const BufferAccess& later = slave.buffers[meeting.later];
    const BufferAccess& earlier = master.buffers[meeting.earlier];
    const ByteSet& all = meeting.earlier_writes ? earlier.written_bytes : earlier.read_bytes;
    boxes.push_back({meeting.later_writes ? &later.write_boxes : &later.read_boxes,
                     meeting.earlier_writes ? &earlier.write_boxes : &earlier.read_boxes,
                     meeting.live->is_copy_of(all)});
  }
  return box_edges(boxes, master.grid, slave.grid, budget);
}

// edges_of_strides() finds edges in closed form between strided patterns, in this way.
std::optional<EdgeTable> DroBuilder::edges_of_strides(const PatternPair& pair,
                                                      const std::vector<Meeting>& meetings,
                                                      decltype(stride_edges)& edges_of,
                                                      Budget& whole) {
  const LaunchPattern& master = patterns_.at(pair.master);
  const LaunchPattern& slave = patterns_.at(pair.slave);
  Budget budget(whole, Budget::unlimited);
  if (!patterns_.is_strided(pair.master, budget) || !patterns_.is_strided(pair.slave, budget))
    return std::nullopt;
  std::vector<StrideMeeting> strides;
  for (const Meeting& meeting : meetings) {
    const BufferAccess& later = slave.buffers[meeting.later];
    const BufferAccess& earlier = master.buffers[meeting.earlier];
    const ByteSet& all = meeting.earlier_writes ? earlier.written_bytes : earlier.read_bytes;
    const bool is_intact = meeting.live->is_copy_of(all);
    if (!is_intact && !meeting.live->listed()) return std::nullopt;
    strides.push_back({meeting.later_writes ? &later.write_strides : &later.read_strides,
                       meeting.earlier_writes ? &earlier.write_strides : &earlier.read_strides,
                       is_intact ? nullptr : &meeting.live->intervals()});
  }
  return edges_of(strides, master.grid, slave.grid, budget);
}

// listed_edges() finds edges in lists, without isl; nothing where something is not listed, or
// where too many blocks meet.
std::optional<EdgeTable> DroBuilder::listed_edges(const PatternPair& pair,
                                                  const std::vector<Meeting>& meetings,
                                                  Budget& whole) {
  const LaunchPattern& master = patterns_.at(pair.master);
  const LaunchPattern& slave = patterns_.at(pair.slave);
  Budget budget(whole, listing_cost);
  if (!patterns_.is_listed(pair.master, budget) || !patterns_.is_listed(pair.slave, budget))
    return std::nullopt;
  EdgeRows rows(master.grid, slave.grid);
  for (const Meeting& meeting : meetings) {
    const BufferAccess& later = slave.buffers[meeting.later];
    const BufferAccess& earlier = master.buffers[meeting.earlier];
    const BlockBytes& slaves = meeting.later_writes ? *later.block_writes : *later.block_reads;
    const BlockBytes& masters =
        meeting.earlier_writes ? *earlier.block_writes : *earlier.block_reads;
    if (!meeting.live->listed() || !rows.add(slaves, masters, meeting.live->intervals(), budget)) {
      return std::nullopt;
    }
  }
  return closed_form(std::move(rows).table(), budget);
}

// composed_edges() relates blocks of the slave to those of the master that touch the same live
// byte. Past the budget everything waits for everything.
isl::map DroBuilder::composed_edges(const PatternPair& pair, const std::vector<Meeting>& meetings,
                                    Budget& budget) const {
  const isl::map everything =
      isl::map::from_domain_and_range(grid_blocks(context_, patterns_.at(pair.slave).grid),
                                      grid_blocks(context_, patterns_.at(pair.master).grid));
  const IslWork work(context_, budget);
  isl::map edges = everything.subtract(everything);
  const auto& slaves = patterns_.relations(pair.slave, budget);
  const auto& masters = patterns_.relations(pair.master, budget);
  if (slaves.empty() || masters.empty()) return everything;
  for (const Meeting& meeting : meetings) {
    const BufferRelations& later = slaves[meeting.later];
    const BufferRelations& earlier = masters[meeting.earlier];
    isl::map master = meeting.earlier_writes ? earlier.writes : earlier.reads;
    if (pair.master_state != 0)
      master = master.intersect_range(meeting.live->set(context_, budget));
    const isl::map& slave = meeting.later_writes ? later.writes : later.reads;
    edges = edges.unite(coalesced(slave.apply_range(master.reverse())));
  }
  edges = coalesced(edges);
  return edges.is_null() ? everything : edges;
}

void DroBuilder::keep(EdgeTable table, PairResult& result, Budget& budget) {
  bool added = false;
  result.edges = store_->add(std::move(table), added, budget);
  result.edge_count = store_->table(result.edges).edge_count;
  if (added && observer_ != nullptr) {
    observer_->note(EdgesRecord{result.edges, store_->table(result.edges)});
  }
}

void DroBuilder::drop(const std::vector<PatternId>& patterns,
                      const std::function<bool(PatternId, uint32_t)>& needed) {
  const std::unordered_set<PatternId> gone(patterns.begin(), patterns.end());
  const auto is_gone = [&](uint32_t pair) {
    const Words& key = pairs_.key(pair);
    return gone.contains(static_cast<PatternId>(key[0])) ||
           gone.contains(static_cast<PatternId>(key[2]));
  };
  pairs_.drop(is_gone, [](uint32_t) { return false; });
  std::unordered_set<uint64_t> named;  // states, as pattern and number
  const auto name = [](PatternId pattern, uint64_t number) {
    return uint64_t{pattern} << 32U | number;
  };
  pairs_.for_each([&](uint32_t pair, const PairResult& result) {
    const Words& key = pairs_.key(pair);
    named.insert(name(static_cast<PatternId>(key[0]), key[1]));
    named.insert(name(static_cast<PatternId>(key[0]), result.next_state));
  });
  for (const PatternId pattern : patterns)
    states_.forget(pattern);
  states_.forget_but([&](PatternId pattern, uint32_t number) {
    return named.contains(name(pattern, number)) || needed(pattern, number);
  });
}

}  // namespace sluice::dro
