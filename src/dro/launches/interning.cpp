#include "dro/launches/interning.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace sluice::dro {
namespace {

// combine() mixes a word into a hash (the finaliser of SplitMix64 by Steele, Lea and Flood).
uint64_t combine(uint64_t hash, uint64_t word) {
  hash += word + 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31);
}

size_t hash_of(const analysis::Footprint& footprint) {
  const std::hash<std::string> text;
  const auto& shape = footprint.shape;
  uint64_t hash = text(footprint.kernel);
  for (const Dim3& extent : {shape.grid, shape.block}) {
    hash = combine(combine(combine(hash, extent.x), extent.y), extent.z);
  }
  hash = combine(hash, shape.dynamic_shared_bytes);
  for (uint64_t value : shape.shape_values)
    hash = combine(hash, value);
  for (const analysis::Symbol& symbol : footprint.symbols)
    hash = combine(hash, static_cast<uint64_t>(symbol.value));
  for (const auto& argument : footprint.arguments) {
    hash = combine(hash, text(argument.reads.relation));
    hash = combine(hash, text(argument.may_writes.relation));
    hash = combine(hash, text(argument.must_writes.relation));
  }
  return hash;
}

// What binding a footprint takes that isl binds.
constexpr uint64_t effort_of_isl = 50'000;

// host_key opens the keys of the host's accesses, where those of launches have a footprint.
constexpr uint64_t host_key = UINT64_MAX;

}  // namespace

size_t WordsHash::operator()(const Words& words) const {
  uint64_t hash = words.size();
  for (uint64_t word : words)
    hash = combine(hash, word);
  return hash;
}

Result<std::pair<FootprintId, bool>> LaunchTable::add_footprint(
    const analysis::Footprint& footprint) {
  const size_t hash = hash_of(footprint);
  const auto [begin, end] = footprint_by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    ParsedFootprint& known = footprints_.at(it->second);
    if (known.source != footprint) continue;
    known.last_used = step_;
    ++footprint_use_.hits;
    return std::pair{it->second, false};
  }
  auto parsed = parse(footprint);
  if (!parsed) return tl::unexpected(parsed.error());
  parsed->last_used = step_;
  ++footprint_use_.misses;
  const FootprintId id = next_footprint_++;
  footprints_.emplace(id, std::move(*parsed));
  footprint_by_hash_.emplace(hash, id);
  return std::pair{id, true};
}

BufferSlot LaunchTable::add_buffer(BufferId buffer, uint64_t bytes) {
  BufferSlot slot = next_buffer_;
  if (free_buffers_.empty()) {
    ++next_buffer_;
  } else {
    slot = free_buffers_.back();
    free_buffers_.pop_back();
  }
  buffers_.emplace(buffer, Buffer{slot, bytes, {}});
  return slot;
}

BufferSlot LaunchTable::remove_buffer(BufferId buffer) {
  const auto place = buffers_.find(buffer);
  const Buffer gone = std::move(place->second);
  buffers_.erase(place);
  free_buffers_.push_back(gone.slot);
  for (const auto& [slot, serial] : gone.launches) {
    if (serials_[slot] == serial) make_unreachable(slot);
  }
  return gone.slot;
}

std::optional<LaunchSlot> LaunchTable::known_launch() {
  ++step_;
  const auto known = launch_by_key_.find(key_);
  if (known == launch_by_key_.end()) {
    ++launch_use_.misses;
    return std::nullopt;
  }
  use_again(known->second);
  return known->second;
}

LaunchSlot LaunchTable::intern(FootprintId footprint, std::span<const BoundArgument> arguments) {
  key_.clear();
  key_.push_back(footprint);
  for (const BoundArgument& argument : arguments) {
    key_.push_back(argument.buffer);
    key_.push_back(argument.offset);
  }
  if (const auto known = known_launch()) return *known;
  return add_launch(bound_launch(footprint, arguments));
}

LaunchSlot LaunchTable::intern(FootprintId footprint, std::span<const BoundArgument> arguments,
                               KnownLaunch& known) {
  const LaunchSlot slot = known.slot;
  const bool is_same =
      slot < launches_.size() && serials_[slot] == known.serial && launches_[slot].key != nullptr;
  if (is_same) {
    ++step_;
    use_again(slot);
    return slot;
  }
  known.slot = intern(footprint, arguments);
  known.serial = serials_[known.slot];
  return known.slot;
}

LaunchSlot LaunchTable::intern_host(std::span<const HostAccess> accesses) {
  key_.clear();
  key_.push_back(host_key);
  for (const HostAccess& access : accesses) {
    key_.insert(key_.end(), {access.buffer, access.begin, access.end, access.writes ? 1U : 0U});
  }
  if (const auto known = known_launch()) return *known;
  return add_launch(host_launch(accesses));
}

InternedLaunch LaunchTable::bound_launch(FootprintId footprint,
                                         std::span<const BoundArgument> arguments) {
  SLUICE_ASSERT(has_footprint(footprint));
  ParsedFootprint& source = footprints_.at(footprint);
  SLUICE_ASSERT(arguments.size() == source.arguments.size());
  source.last_used = step_;
  InternedLaunch launch;
  std::vector<Binding> bindings;
  std::vector<uint64_t> buffer_bytes;
  for (const BoundArgument& argument : arguments) {
    Binding& binding = bindings.emplace_back();
    if (argument.buffer == 0) continue;
    SLUICE_ASSERT(has_buffer(argument.buffer));
    const auto place = std::find(launch.buffers.begin(), launch.buffers.end(), argument.buffer);
    binding = {static_cast<size_t>(place - launch.buffers.begin()), argument.offset};
    if (place == launch.buffers.end()) {
      launch.buffers.push_back(argument.buffer);
      buffer_bytes.push_back(buffers_.at(argument.buffer).bytes);
    }
  }
  Words key{footprint};
  for (const Binding& binding : bindings) {
    key.push_back(binding.buffer ? *binding.buffer + 1 : 0);
    key.push_back(binding.offset);
  }
  key.insert(key.end(), buffer_bytes.begin(), buffer_bytes.end());
  launch.pattern = pattern_of(std::move(key), [&] {
    LaunchPattern pattern;
    pattern.footprint = footprint;
    pattern.grid = source.source.shape.grid;
    pattern.boxed = source.boxed;
    pattern.listed = source.listed;
    pattern.bindings = bindings;
    pattern.buffer_bytes = buffer_bytes;
    bind(pattern);
    effort_ += pattern.boxed    ? pattern.listed_ranges
               : pattern.listed ? 4 * source.runs
                                : effort_of_isl;
    return pattern;
  });
  launch.id = next_launch_++;
  return launch;
}

InternedLaunch LaunchTable::host_launch(std::span<const HostAccess> accesses) {
  InternedLaunch launch;
  launch.host = true;
  Words key{host_key};
  for (const HostAccess& access : accesses) {
    SLUICE_ASSERT(has_buffer(access.buffer));
    const auto place = std::find(launch.buffers.begin(), launch.buffers.end(), access.buffer);
    key.insert(key.end(), {static_cast<uint64_t>(place - launch.buffers.begin()), access.begin,
                           access.end, access.writes ? 1U : 0U});
    if (place == launch.buffers.end()) launch.buffers.push_back(access.buffer);
  }
  launch.pattern =
      pattern_of(std::move(key), [&] { return host_pattern(accesses, launch.buffers); });
  launch.id = next_host_++;
  return launch;
}

LaunchSlot LaunchTable::add_launch(InternedLaunch launch) {
  const LaunchPattern& pattern = patterns_.at(launch.pattern);
  LaunchSlot slot = static_cast<LaunchSlot>(launches_.size());
  if (free_launches_.empty()) {
    launches_.emplace_back();
    serials_.push_back(0);
  } else {
    slot = free_launches_.back();
    free_launches_.pop_back();
  }
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    Buffer& buffer = buffers_.at(launch.buffers[i]);
    buffer.launches.emplace_back(slot, serials_[slot]);
    const auto hull =
        joined(pattern.buffers[i].read_bytes.hull(), pattern.buffers[i].written_bytes.hull());
    if (hull) launch.places.push_back({launch.buffers[i], buffer.slot, *hull});
  }
  launch.last_used = step_;
  launch.key = &launch_by_key_.emplace(key_, slot).first->first;
  launches_[slot] = std::move(launch);
  return slot;
}

PatternId LaunchTable::pattern_of(Words key, const std::function<LaunchPattern()>& make) {
  const auto known = pattern_by_key_.find(key);
  if (known != pattern_by_key_.end()) {
    patterns_.at(known->second).last_used = step_;
    return known->second;
  }
  const PatternId id = next_pattern_++;
  LaunchPattern& pattern = patterns_.emplace(id, make()).first->second;
  pattern.last_used = step_;
  listed_ranges_ += pattern.listed_ranges;
  pattern_by_key_.emplace(std::move(key), id);
  return id;
}

}  // namespace sluice::dro
