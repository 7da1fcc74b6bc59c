#include "dro/launches/live_state.hpp"

#include <algorithm>
#include <utility>

namespace sluice::dro {
namespace {

void update_superseded(LiveState& state) {
  state.superseded = std::all_of(
      state.buffers.begin(), state.buffers.end(),
      [](const LiveBytes& live) { return live.last_writes.empty() && live.reads.empty(); });
}

// ranges_of() is how many ranges a state's own lists hold. The intact one has its pattern's.
uint64_t ranges_of(uint32_t number, const LiveState& state) {
  uint64_t ranges = 0;
  const auto add = [&](const ByteSet& bytes, const ByteSet* like) {
    const bool is_shared = like != nullptr && bytes.is_copy_of(*like);
    ranges += is_shared || !bytes.listed() ? 0 : bytes.intervals().ranges().size();
  };
  for (size_t i = 0; i < state.buffers.size() && number != 0; ++i) {
    const LiveBytes& live = state.buffers[i];
    add(live.writes, nullptr);
    add(live.last_writes, &live.writes);
    add(live.fresh_writes, &live.last_writes);
    add(live.reads, nullptr);
  }
  return ranges;
}

uint64_t hull_hash(const LiveState& state) {
  Words words;
  for (const LiveBytes& live : state.buffers) {
    for (const auto& hull : {live.writes.hull(), live.reads.hull()}) {
      words.push_back(hull ? static_cast<uint64_t>(hull->begin) : UINT64_MAX);
      words.push_back(hull ? static_cast<uint64_t>(hull->end) : UINT64_MAX);
    }
  }
  return WordsHash()(words);
}

}  // namespace

std::optional<Range> LiveBytes::hull() const {
  return joined(writes.hull(), reads.hull());
}

bool LiveState::retired() const {
  return std::all_of(buffers.begin(), buffers.end(),
                     [](const LiveBytes& live) { return live.empty(); });
}

void retire(const IslContext& context, LiveBytes& live, const BufferAccess& later, Rule rule,
            Budget& budget) {
  if (rule == Rule::buffer) {
    if (!later.written_bytes.empty()) live.writes = live.last_writes = live.fresh_writes = {};
    return;
  }
  // Mostly the three are one set, and all writes are must-writes: what is left is found once.
  const LiveBytes before = live;
  live.writes = before.writes.without(later.must_written_bytes, context, budget);
  live.last_writes = before.last_writes.is_copy_of(before.writes) &&
                             later.written_bytes.is_copy_of(later.must_written_bytes)
                         ? live.writes
                         : before.last_writes.without(later.written_bytes, context, budget);
  const ByteSet unclaimed = before.fresh_writes.is_copy_of(before.last_writes)
                                ? live.last_writes
                                : before.fresh_writes.without(later.written_bytes, context, budget);
  live.fresh_writes = unclaimed.without(later.read_bytes, context, budget);
  live.reads = live.reads.without(later.written_bytes, context, budget);
}

LiveStateTable::States& LiveStateTable::states_of(PatternId pattern) {
  const auto [place, added] = states_.try_emplace(pattern);
  if (added) {
    LiveState intact = intact_state(patterns_.at(pattern), rule_);
    const uint64_t hash = hull_hash(intact);
    add(place->second, std::move(intact), hash);
  }
  return place->second;
}

uint32_t LiveStateTable::add(States& states, LiveState state, uint64_t hash) {
  const uint32_t number = states.next++;
  ranges_ += ranges_of(number, state);
  states.by_number.emplace(number, std::move(state));
  states.by_hash.emplace(hash, number);
  return number;
}

const LiveState& LiveStateTable::state(PatternId pattern, uint32_t number) {
  return states_of(pattern).by_number.at(number);
}

bool LiveStateTable::equal(const LiveState& a, const LiveState& b, Budget& budget) const {
  return std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(),
                    [&](const LiveBytes& x, const LiveBytes& y) {
                      return x.writes.equals(y.writes, context_, budget) &&
                             x.last_writes.equals(y.last_writes, context_, budget) &&
                             x.fresh_writes.equals(y.fresh_writes, context_, budget) &&
                             x.reads.equals(y.reads, context_, budget);
                    });
}

uint32_t LiveStateTable::number_of(PatternId pattern, LiveState state, Budget& budget) {
  if (state.retired()) return retired;
  States& known = states_of(pattern);
  const uint64_t hash = hull_hash(state);
  const auto [begin, end] = known.by_hash.equal_range(hash);
  uint32_t found = retired;
  for (auto it = begin; it != end; ++it) {
    const LiveState& candidate = known.by_number.at(it->second);
    if (budget.take(1) && equal(candidate, state, budget)) found = std::min(found, it->second);
  }
  if (found != retired) return found;
  update_superseded(state);
  return add(known, std::move(state), hash);
}

void LiveStateTable::forget(PatternId pattern) {
  const auto gone = states_.find(pattern);
  if (gone == states_.end()) return;
  for (const auto& [number, state] : gone->second.by_number)
    ranges_ -= ranges_of(number, state);
  states_.erase(gone);
}

void LiveStateTable::forget_but(const std::function<bool(PatternId, uint32_t)>& needed) {
  for (auto& [pattern, states] : states_) {
    const auto goes = [&, id = pattern](uint32_t number) {
      return number != 0 && !needed(id, number);
    };
    std::erase_if(states.by_hash, [&](const auto& entry) { return goes(entry.second); });
    std::erase_if(states.by_number, [&](const auto& entry) {
      const bool is_gone = goes(entry.first);
      if (is_gone) ranges_ -= ranges_of(entry.first, entry.second);
      return is_gone;
    });
  }
}

size_t LiveStateTable::size() const {
  size_t count = 0;
  for (const auto& [pattern, states] : states_)
    count += states.by_number.size();
  return count;
}

}  // namespace sluice::dro
