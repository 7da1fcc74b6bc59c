#include "dro/live_state.hpp"

#include <algorithm>
#include <utility>

namespace sluice::dro {
namespace {

bool same_hull(const std::optional<ByteRange>& a, const std::optional<ByteRange>& b) {
  if (!a || !b) return !a && !b;
  return a->first == b->first && a->last == b->last;
}

bool equal(const LiveBytes& a, const LiveBytes& b) {
  return same_hull(a.write_hull, b.write_hull) && same_hull(a.read_hull, b.read_hull) &&
         yes(a.writes.is_equal(b.writes)) && yes(a.last_writes.is_equal(b.last_writes)) &&
         yes(a.fresh_writes.is_equal(b.fresh_writes)) && yes(a.reads.is_equal(b.reads));
}

// keep_without() takes `gone` from `bytes`. Where isl gives up, the bytes stay live: that orders
// more than needed, never less.
void keep_without(isl::set& bytes, const isl::set& gone) {
  const isl::set rest = coalesced(bytes.subtract(gone));
  if (!rest.is_null()) bytes = rest;
}

void update_hulls(LiveBytes& live) {
  live.write_hull = hull(live.writes);
  live.read_hull = hull(live.reads);
}

void update_superseded(LiveState& state) {
  state.superseded = std::all_of(
      state.buffers.begin(), state.buffers.end(),
      [](const LiveBytes& live) { return yes(live.last_writes.is_empty()) && !live.read_hull; });
}

uint64_t hull_hash(const LiveState& state) {
  Words words;
  for (const LiveBytes& live : state.buffers) {
    for (const auto& hull : {live.write_hull, live.read_hull}) {
      words.push_back(hull ? static_cast<uint64_t>(hull->first) : UINT64_MAX);
      words.push_back(hull ? static_cast<uint64_t>(hull->last) : UINT64_MAX);
    }
  }
  return WordsHash()(words);
}

}  // namespace

std::optional<ByteRange> LiveBytes::hull() const {
  return joined(write_hull, read_hull);
}

bool LiveState::retired() const {
  return std::all_of(buffers.begin(), buffers.end(),
                     [](const LiveBytes& live) { return live.empty(); });
}

LiveState intact_state(const IslContext& context, const LaunchPattern& pattern, Rule rule) {
  LiveState state;
  for (const BufferAccess& access : pattern.buffers) {
    const isl::set& written = access.written_bytes;
    const isl::set reads = rule == Rule::exact ? access.read_bytes : empty_bytes(context);
    state.buffers.push_back({written, written, written, reads, {}, {}});
    update_hulls(state.buffers.back());
  }
  return state;
}

void retire(LiveBytes& live, const BufferAccess& later, Rule rule) {
  if (rule == Rule::buffer) {
    if (!later.written_hull) return;
    live.writes = live.last_writes = live.fresh_writes = live.writes.subtract(live.writes);
    update_hulls(live);
    return;
  }
  if (later.written_hull) {
    keep_without(live.writes, later.must_written_bytes);
    keep_without(live.last_writes, later.written_bytes);
    keep_without(live.fresh_writes, later.written_bytes);
    keep_without(live.reads, later.written_bytes);
  }
  if (later.read_hull) keep_without(live.fresh_writes, later.read_bytes);
  update_hulls(live);
}

LiveStateTable::States& LiveStateTable::states_of(PatternId pattern) {
  const auto [place, added] = states_.try_emplace(pattern);
  if (added) {
    LiveState intact = intact_state(context_, launches_.pattern(pattern), rule_);
    const uint64_t hash = hull_hash(intact);
    add(place->second, std::move(intact), hash);
  }
  return place->second;
}

uint32_t LiveStateTable::add(States& states, LiveState state, uint64_t hash) {
  const uint32_t number = states.next++;
  states.by_number.emplace(number, std::move(state));
  states.by_hash.emplace(hash, number);
  return number;
}

const LiveState& LiveStateTable::state(PatternId pattern, uint32_t number) {
  return states_of(pattern).by_number.at(number);
}

uint32_t LiveStateTable::number_of(PatternId pattern, LiveState state) {
  if (state.retired()) return retired;
  States& known = states_of(pattern);
  const uint64_t hash = hull_hash(state);
  const auto [begin, end] = known.by_hash.equal_range(hash);
  uint32_t found = retired;
  for (auto it = begin; it != end; ++it) {
    const LiveState& candidate = known.by_number.at(it->second);
    if (std::equal(candidate.buffers.begin(), candidate.buffers.end(), state.buffers.begin(),
                   equal)) {
      found = std::min(found, it->second);
    }
  }
  if (found != retired) return found;
  update_superseded(state);
  return add(known, std::move(state), hash);
}

void LiveStateTable::forget_but(const std::function<bool(PatternId, uint32_t)>& needed) {
  for (auto& [pattern, states] : states_) {
    const auto goes = [&, id = pattern](uint32_t number) {
      return number != 0 && !needed(id, number);
    };
    std::erase_if(states.by_hash, [&](const auto& entry) { return goes(entry.second); });
    std::erase_if(states.by_number, [&](const auto& entry) { return goes(entry.first); });
  }
}

size_t LiveStateTable::size() const {
  size_t count = 0;
  for (const auto& [pattern, states] : states_)
    count += states.by_number.size();
  return count;
}

}  // namespace sluice::dro
