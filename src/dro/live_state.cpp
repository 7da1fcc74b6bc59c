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

}  // namespace

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
    if (later.written_hull) erase(live, live.writes);
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

void erase(LiveBytes& live, isl::set bytes) {
  keep_without(live.writes, bytes);
  keep_without(live.last_writes, bytes);
  keep_without(live.fresh_writes, bytes);
  keep_without(live.reads, bytes);
  update_hulls(live);
}

std::deque<LiveState>& LiveStateTable::states_of(PatternId pattern) {
  while (states_.size() <= pattern) {
    const auto next = static_cast<PatternId>(states_.size());
    states_.push_back({intact_state(context_, launches_.pattern(next), rule_)});
  }
  return states_[pattern];
}

const LiveState& LiveStateTable::state(PatternId pattern, uint32_t number) {
  return states_of(pattern)[number];
}

uint32_t LiveStateTable::number_of(PatternId pattern, LiveState state) {
  if (state.retired()) return retired;
  std::deque<LiveState>& known = states_of(pattern);
  for (uint32_t number = 0; number < known.size(); ++number) {
    if (std::equal(known[number].buffers.begin(), known[number].buffers.end(),
                   state.buffers.begin(), equal)) {
      return number;
    }
  }
  update_superseded(state);
  known.push_back(std::move(state));
  return static_cast<uint32_t>(known.size() - 1);
}

}  // namespace sluice::dro
