#include "dro/interning.hpp"

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
  for (const auto& argument : footprint.arguments) {
    hash = combine(hash, text(argument.reads.relation));
    hash = combine(hash, text(argument.may_writes.relation));
    hash = combine(hash, text(argument.must_writes.relation));
  }
  return hash;
}

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

Result<LaunchTable::ParsedFootprint> LaunchTable::parse(
    const analysis::Footprint& footprint) const {
  if (footprint.opaque()) {
    return invalid_input("an opaque footprint has no dependences of its own", footprint.kernel);
  }
  ParsedFootprint parsed{footprint, {}, 0};
  for (size_t i = 0; i < footprint.arguments.size(); ++i) {
    const analysis::ArgumentFootprint& source = footprint.arguments[i];
    ParsedArgument& argument = parsed.arguments.emplace_back();
    const std::tuple<const analysis::Access&, ParsedAccess&, const char*> accesses[] = {
        {source.reads, argument.reads, "reads"},
        {source.may_writes, argument.may_writes, "may-writes"},
        {source.must_writes, argument.must_writes, "must-writes"}};
    for (const auto& [access, target, what] : accesses) {
      target.whole_buffer = access.precision == analysis::Precision::whole_buffer;
      if (target.whole_buffer || access.relation.empty()) continue;
      auto relation = parse_access(context_, access.relation, footprint.shape.grid);
      if (!relation) {
        return invalid_input(
            relation.error().what,
            fmt::format("kernel {}, pointer argument {}, {}", footprint.kernel, i, what));
      }
      target.relation = std::move(*relation);
    }
  }
  return parsed;
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
  ++launch_use_.hits;
  launches_[known->second].last_used = step_;
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
  launch.pattern =
      pattern_of(std::move(key), [&] { return bind(footprint, bindings, buffer_bytes); });
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
    const auto hull = joined(pattern.buffers[i].read_hull, pattern.buffers[i].written_hull);
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
  patterns_.emplace(id, make()).first->second.last_used = step_;
  pattern_by_key_.emplace(std::move(key), id);
  return id;
}

LaunchPattern LaunchTable::host_pattern(std::span<const HostAccess> accesses,
                                        const std::vector<BufferId>& buffers) const {
  LaunchPattern pattern{std::nullopt, {}, {}, 0};
  const isl::map nothing = empty_access(context_);
  const isl::set no_bytes = empty_bytes(context_);
  pattern.buffers.resize(buffers.size(), {nothing, nothing, no_bytes, no_bytes, no_bytes});
  for (const HostAccess& source : accesses) {
    const auto place = std::find(buffers.begin(), buffers.end(), source.buffer);
    BufferAccess& access = pattern.buffers[static_cast<size_t>(place - buffers.begin())];
    const isl::set bytes = byte_set(
        context_, {static_cast<int64_t>(source.begin), static_cast<int64_t>(source.end) - 1});
    (source.writes ? access.written_bytes : access.read_bytes) =
        (source.writes ? access.written_bytes : access.read_bytes).unite(bytes);
  }
  for (BufferAccess& access : pattern.buffers) {
    access.must_written_bytes = access.written_bytes;
    access.read_hull = hull(access.read_bytes);
    access.written_hull = hull(access.written_bytes);
  }
  return pattern;
}

isl::map LaunchTable::bound_access(const ParsedAccess& access, uint64_t offset,
                                   uint64_t buffer_bytes, const Dim3& grid) const {
  if (access.whole_buffer) {
    const ByteRange all{0, static_cast<int64_t>(buffer_bytes) - 1};
    return isl::map::from_domain_and_range(grid_blocks(context_, grid), byte_set(context_, all));
  }
  return access.relation ? shifted(*access.relation, offset) : empty_access(context_);
}

LaunchPattern LaunchTable::bind(FootprintId footprint, const std::vector<Binding>& bindings,
                                const std::vector<uint64_t>& buffer_bytes) const {
  const ParsedFootprint& parsed = footprints_.at(footprint);
  const Dim3& grid = parsed.source.shape.grid;
  LaunchPattern pattern{footprint, grid, {}, 0};
  const isl::map nothing = empty_access(context_);
  const isl::set no_bytes = empty_bytes(context_);
  pattern.buffers.resize(buffer_bytes.size(), {nothing, nothing, no_bytes, no_bytes, no_bytes});
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (!bindings[i].buffer) continue;
    const ParsedArgument& argument = parsed.arguments[i];
    const uint64_t bytes = buffer_bytes[*bindings[i].buffer];
    BufferAccess& access = pattern.buffers[*bindings[i].buffer];
    const auto bound = [&](const ParsedAccess& part) {
      return bound_access(part, bindings[i].offset, bytes, grid);
    };
    const isl::map must_writes = bound(argument.must_writes);
    access.reads = access.reads.unite(bound(argument.reads));
    access.writes = access.writes.unite(bound(argument.may_writes)).unite(must_writes);
    // Only what is exactly known may retire earlier writers: a superset of the bytes may not.
    if (parsed.source.arguments[i].must_writes.precision == analysis::Precision::exact) {
      access.must_written_bytes = access.must_written_bytes.unite(must_writes.range());
    }
  }
  for (BufferAccess& access : pattern.buffers) {
    access.reads = coalesced(access.reads);
    access.writes = coalesced(access.writes);
    access.read_bytes = coalesced(access.reads.range());
    access.written_bytes = coalesced(access.writes.range());
    access.must_written_bytes = coalesced(access.must_written_bytes);
    access.read_hull = hull(access.read_bytes);
    access.written_hull = hull(access.written_bytes);
  }
  return pattern;
}

}  // namespace sluice::dro
