#include "dro/rule/dro_builder.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "dro/boxes/box_edges.hpp"
#include "dro/edges/block_bytes.hpp"
#include "dro/edges/edge_forms.hpp"

namespace sluice::dro {
namespace {

// In isl's operations: a quarter of a second, mostly.
constexpr unsigned long composing_budget = 200'000;

// listing_steps bounds the search for the edges of one hazard in listed bytes; what takes more is
// left to isl, which is quicker where many blocks meet many.
constexpr size_t listing_steps = size_t{1} << 20;

// What a pair costs that isl composes, and one whose bytes are listed, beside its lists.
constexpr uint64_t effort_of_isl = 100'000;
constexpr uint64_t effort_of_giving_up = 10'000'000;
constexpr uint64_t effort_of_lists = 512;

uint64_t sides(const Dim3& grid) {
  return uint64_t{grid.x} + grid.y + grid.z;
}

bool meet_in_lists(const ByteSet& a, const ByteSet& b) {
  return !a.listed() || !b.listed() || a.intervals().meets(b.intervals());
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

const PairResult& DroBuilder::resolve(const PatternPair& pair) {
  Words key{pair.master, pair.master_state, pair.slave};
  key.insert(key.end(), pair.slave_buffer.begin(), pair.slave_buffer.end());
  if (const auto known = pairs_.find(key, ++step_)) return pairs_.at(*known);
  return pairs_.at(pairs_.add(std::move(key), compose(pair), step_));
}

// find_meetings() adds the hazards that hold in one buffer to `found`, and to the result.
bool DroBuilder::find_meetings(const Meeting& place, const BufferAccess& later,
                               const LiveBytes& live, PairResult& result,
                               std::vector<Meeting>& found) const {
  const auto holds = [&](bool later_writes, bool earlier_writes, const ByteSet& bytes) {
    const ByteSet& touched = later_writes ? later.written_bytes : later.read_bytes;
    if (!touched.meets(bytes, context_)) return false;
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
                           const LaunchPattern& slave) {
  for (size_t i = 0; i < pair.slave_buffer.size(); ++i) {
    if (pair.slave_buffer[i] == PatternPair::none) continue;
    const BufferAccess& later = slave.buffers[pair.slave_buffer[i]];
    const LiveBytes& live = left.buffers[i];
    if (meet_in_lists(live.writes, later.read_bytes) ||
        meet_in_lists(live.writes, later.written_bytes) ||
        meet_in_lists(live.reads, later.written_bytes)) {
      return false;
    }
  }
  return true;
}

PairResult DroBuilder::compose(const PatternPair& pair) {
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
  bool undrawn = false;
  const auto light = [](const LaunchPattern& pattern) {
    return !pattern.footprint || pattern.boxed || pattern.listed;
  };
  const bool without_isl = light(master) && light(slave) && rule_ == Rule::exact;
  effort_ += without_isl ? effort_of_lists : effort_of_isl;
  {
    const IslContext::Budget budget(context_, composing_budget);
    for (uint32_t i = 0; i < pair.slave_buffer.size(); ++i) {
      if (pair.slave_buffer[i] == PatternPair::none) continue;
      const BufferAccess& later = slave.buffers[pair.slave_buffer[i]];
      const Meeting place{.later = pair.slave_buffer[i], .earlier = i};
      if (find_meetings(place, later, state.buffers[i], result, meetings)) {
        result.meeting.push_back(i);
      }
      retire(context_, next.buffers[i], later, retiring);
    }
    if (!host && !meetings.empty()) undrawn = !find_edges(pair, meetings, result);
    if (budget.is_spent()) effort_ += effort_of_giving_up;
  }
  if (undrawn && store_ != nullptr) {
    bool gave_up = false;
    keep(draw_edges(context_, result.relation, master.grid, slave.grid, drawing_budget, &gave_up),
         result);
    if (gave_up) effort_ += effort_of_giving_up;
  }
  const auto writes_live = [](const LiveBytes& live) { return !live.writes.empty(); };
  result.retires_master = std::any_of(state.buffers.begin(), state.buffers.end(), writes_live) &&
                          std::none_of(next.buffers.begin(), next.buffers.end(), writes_live);
  result.next_state = states_.number_of(pair.master, std::move(next));
  return result;
}

// find_edges() finds the edges themselves, or else their relation and is false.
bool DroBuilder::find_edges(const PatternPair& pair, const std::vector<Meeting>& meetings,
                            PairResult& result) {
  // Those who ask for relations alone, and the check of the buffer rule, go on with isl's.
  if (store_ != nullptr && rule_ == Rule::exact) {
    std::optional<EdgeTable> table = edges_of_boxes(pair, meetings);
    if (!table) table = listed_edges(pair, meetings);
    if (table) {
      keep(std::move(*table), result);
      return true;
    }
  }
  result.relation = composed_edges(pair, meetings);
  return false;
}

// edges_of_boxes() finds edges in closed form between boxed patterns.
std::optional<EdgeTable> DroBuilder::edges_of_boxes(const PatternPair& pair,
                                                    const std::vector<Meeting>& meetings) {
  const LaunchPattern& master = patterns_.at(pair.master);
  const LaunchPattern& slave = patterns_.at(pair.slave);
  if (!master.boxed || !slave.boxed) return std::nullopt;
  std::vector<BoxMeeting> boxes;
  for (const Meeting& meeting : meetings) {
    const BufferAccess& later = slave.buffers[meeting.later];
    const BufferAccess& earlier = master.buffers[meeting.earlier];
    const ByteSet& all = meeting.earlier_writes ? earlier.written_bytes : earlier.read_bytes;
    boxes.push_back({meeting.later_writes ? &later.write_boxes : &later.read_boxes,
                     meeting.earlier_writes ? &earlier.write_boxes : &earlier.read_boxes,
                     meeting.live->is_copy_of(all)});
  }
  auto table = box_edges(boxes, master.grid, slave.grid);
  effort_ += meetings.size() * (sides(master.grid) + sides(slave.grid));
  if (const auto* rows = table ? std::get_if<RangeEdges>(&table->form) : nullptr) {
    effort_ += 2 * (rows->rows.size() + rows->ranges.size());
  }
  return table;
}

// listed_edges() finds edges in lists, without isl; nothing where something is not listed, or
// where too many blocks meet.
std::optional<EdgeTable> DroBuilder::listed_edges(const PatternPair& pair,
                                                  const std::vector<Meeting>& meetings) {
  const LaunchPattern& master = patterns_.at(pair.master);
  const LaunchPattern& slave = patterns_.at(pair.slave);
  if (!patterns_.is_listed(pair.master) || !patterns_.is_listed(pair.slave)) return std::nullopt;
  effort_ += master.grid.count() + slave.grid.count();
  EdgeRows rows(master.grid, slave.grid);
  for (const Meeting& meeting : meetings) {
    const BufferAccess& later = slave.buffers[meeting.later];
    const BufferAccess& earlier = master.buffers[meeting.earlier];
    const BlockBytes& slaves = meeting.later_writes ? *later.block_writes : *later.block_reads;
    const BlockBytes& masters =
        meeting.earlier_writes ? *earlier.block_writes : *earlier.block_reads;
    effort_ += slaves.size() + masters.size();
    if (!meeting.live->listed() ||
        !rows.add(slaves, masters, meeting.live->intervals(), listing_steps)) {
      effort_ += effort_of_isl;
      return std::nullopt;
    }
  }
  return closed_form(std::move(rows).table());
}

// composed_edges() relates blocks of the slave to those of the master that touch the same live
// byte. Should isl give up, everything waits for everything.
isl::map DroBuilder::composed_edges(const PatternPair& pair,
                                    const std::vector<Meeting>& meetings) const {
  const isl::map everything =
      isl::map::from_domain_and_range(grid_blocks(context_, patterns_.at(pair.slave).grid),
                                      grid_blocks(context_, patterns_.at(pair.master).grid));
  isl::map edges = everything.subtract(everything);
  for (const Meeting& meeting : meetings) {
    const BufferRelations& later = patterns_.relations(pair.slave)[meeting.later];
    const BufferRelations& earlier = patterns_.relations(pair.master)[meeting.earlier];
    isl::map master = meeting.earlier_writes ? earlier.writes : earlier.reads;
    if (pair.master_state != 0) master = master.intersect_range(meeting.live->set(context_));
    const isl::map& slave = meeting.later_writes ? later.writes : later.reads;
    edges = edges.unite(coalesced(slave.apply_range(master.reverse())));
  }
  edges = coalesced(edges);
  return edges.is_null() ? everything : edges;
}

void DroBuilder::keep(EdgeTable table, PairResult& result) {
  bool added = false;
  result.edges = store_->add(std::move(table), added);
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
