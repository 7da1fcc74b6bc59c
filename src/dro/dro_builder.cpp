#include "dro/dro_builder.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "dro/eviction.hpp"

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

// Meeting is one pair being composed.
struct Meeting {
  Rule rule;
  bool host;            // one side is the host: only hazards are asked for
  bool intact;          // nothing of the master has been retired
  isl::map everything;  // every slave block to every master block

  // add() adds the hazards and edges of one buffer; true where there are any.
  bool add(const BufferAccess& later, const BufferAccess& earlier, const LiveBytes& live,
           PairResult& result) const;

 private:
  struct Question {
    const isl::map& later;
    const isl::set& later_bytes;
    const std::optional<ByteRange>& later_hull;
    const isl::map& earlier;
    const std::optional<ByteRange>& live_hull;
    const isl::set& live;
  };
  bool holds(const Question& question, isl::map& edges) const;
};

bool Meeting::holds(const Question& question, isl::map& edges) const {
  if (apart(question.later_hull, question.live_hull)) return false;
  if (host) return !yes(question.later_bytes.intersect(question.live).is_empty());
  const isl::map found =
      blocks_between({question.later, question.later_hull}, {question.earlier, question.live_hull},
                     question.live, intact, everything);
  if (yes(found.is_empty())) return false;
  edges = edges.unite(found);
  return true;
}

bool Meeting::add(const BufferAccess& later, const BufferAccess& earlier, const LiveBytes& live,
                  PairResult& result) const {
  Hazards found;
  found.raw = holds({later.reads, later.read_bytes, later.read_hull, earlier.writes,
                     live.write_hull, live.writes},
                    result.relation);
  if (rule == Rule::exact) {
    found.war = holds({later.writes, later.written_bytes, later.written_hull, earlier.reads,
                       live.read_hull, live.reads},
                      result.relation);
    found.waw = holds({later.writes, later.written_bytes, later.written_hull, earlier.writes,
                       live.write_hull, live.fresh_writes},
                      result.relation);
  }
  Hazards& all = result.hazards;
  all = {all.raw || found.raw, all.war || found.war, all.waw || found.waw};
  return found.any();
}

}  // namespace

const PairResult& DroBuilder::resolve(const PatternPair& pair) {
  Words key{pair.master, pair.master_state, pair.slave};
  key.insert(key.end(), pair.slave_buffer.begin(), pair.slave_buffer.end());
  auto known = by_key_.find(key);
  if (known == by_key_.end()) {
    ++use_.misses;
    known = by_key_.emplace(std::move(key), compose(pair)).first;
  } else {
    ++use_.hits;
  }
  known->second.last_used = ++step_;
  return known->second;
}

PairResult DroBuilder::compose(const PatternPair& pair) {
  const LaunchPattern& master = launches_.pattern(pair.master);
  const LaunchPattern& slave = launches_.pattern(pair.slave);
  const LiveState& state = states_.state(pair.master, pair.master_state);
  const bool host = !master.footprint || !slave.footprint;
  // The host waits, and is waited for, as a whole, so that for it only the bytes count. Its writes
  // are exact whatever the rule.
  const Rule retiring = slave.footprint ? rule_ : Rule::exact;
  const Meeting meeting{rule_, host, pair.master_state == 0,
                        isl::map::from_domain_and_range(grid_blocks(context_, slave.grid),
                                                        grid_blocks(context_, master.grid))};
  PairResult result;
  result.relation = meeting.everything.subtract(meeting.everything);
  LiveState next = state;
  {
    const IslContext::Budget budget(context_, composing_budget);
    for (uint32_t i = 0; i < pair.slave_buffer.size(); ++i) {
      if (pair.slave_buffer[i] == PatternPair::none) continue;
      const BufferAccess& later = slave.buffers[pair.slave_buffer[i]];
      if (meeting.add(later, master.buffers[i], state.buffers[i], result)) {
        result.meeting.push_back(i);
      }
      retire(next.buffers[i], later, retiring);
    }
    result.relation = coalesced(result.relation);
    if (result.relation.is_null()) result.relation = meeting.everything;
  }
  const auto writes_live = [](const LiveBytes& live) { return live.write_hull.has_value(); };
  result.retires_master = std::any_of(state.buffers.begin(), state.buffers.end(), writes_live) &&
                          std::none_of(next.buffers.begin(), next.buffers.end(), writes_live);
  result.next_state = states_.number_of(pair.master, std::move(next));
  if (result.hazards.any() && store_ != nullptr && !host) draw(pair, result);
  return result;
}

void DroBuilder::drop(const std::vector<PatternId>& patterns,
                      const std::function<bool(PatternId, uint32_t)>& needed) {
  const std::unordered_set<PatternId> gone(patterns.begin(), patterns.end());
  const auto of_gone = [&](const Words& key) {
    return gone.count(static_cast<PatternId>(key[0])) != 0 ||
           gone.count(static_cast<PatternId>(key[2])) != 0;
  };
  std::vector<std::pair<uint64_t, uint64_t>> uses;  // a step is used once, so it is a name too
  for (const auto& [key, result] : by_key_) {
    if (!of_gone(key)) uses.emplace_back(result.last_used, result.last_used);
  }
  const size_t before = by_key_.size();
  const auto oldest = least_recent(uses, to_drop(uses.size(), limit_));
  const uint64_t newest_dropped = oldest.empty() ? 0 : oldest.back();
  std::unordered_set<uint64_t> named;  // states, as pattern and number
  const auto name = [](PatternId pattern, uint64_t number) {
    return uint64_t{pattern} << 32U | number;
  };
  std::erase_if(by_key_, [&](const auto& entry) {
    return of_gone(entry.first) || entry.second.last_used <= newest_dropped;
  });
  for (const auto& [key, result] : by_key_) {
    named.insert(name(static_cast<PatternId>(key[0]), key[1]));
    named.insert(name(static_cast<PatternId>(key[0]), result.next_state));
  }
  use_.evictions += before - by_key_.size();
  most_pairs_ = std::max<size_t>(limit_, 2 * by_key_.size());
  for (const PatternId pattern : patterns)
    states_.forget(pattern);
  states_.forget_but([&](PatternId pattern, uint32_t number) {
    return named.count(name(pattern, number)) != 0 || needed(pattern, number);
  });
}

void DroBuilder::draw(const PatternPair& pair, PairResult& result) {
  bool added = false;
  result.edges =
      store_->add(draw_edges(context_, result.relation, launches_.pattern(pair.master).grid,
                             launches_.pattern(pair.slave).grid),
                  added);
  result.edge_count = store_->table(result.edges).edge_count;
  if (added && observer_ != nullptr) {
    observer_->on_edge_table(result.edges, store_->table(result.edges));
  }
}

}  // namespace sluice::dro
