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
    if (footprints_[it->second].source == footprint) return std::pair{it->second, false};
  }
  auto parsed = parse(footprint);
  if (!parsed) return tl::unexpected(parsed.error());
  const auto id = static_cast<FootprintId>(footprints_.size());
  footprints_.push_back(std::move(*parsed));
  footprint_by_hash_.emplace(hash, id);
  return std::pair{id, true};
}

Result<LaunchTable::ParsedFootprint> LaunchTable::parse(
    const analysis::Footprint& footprint) const {
  if (footprint.opaque()) {
    return invalid_input("an opaque footprint has no dependences of its own", footprint.kernel);
  }
  ParsedFootprint parsed{footprint, {}};
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

InternedId LaunchTable::intern(FootprintId footprint, std::span<const BoundArgument> arguments,
                               const std::function<uint64_t(BufferId)>& bytes_of) {
  SLUICE_ASSERT(footprint < footprints_.size());
  SLUICE_ASSERT(arguments.size() == footprints_[footprint].arguments.size());
  key_.clear();
  key_.push_back(footprint);
  for (const BoundArgument& argument : arguments) {
    key_.push_back(argument.buffer);
    key_.push_back(argument.offset);
  }
  const auto known = launch_by_key_.find(key_);
  if (known != launch_by_key_.end()) return known->second;

  InternedLaunch launch;
  std::vector<Binding> bindings;
  std::vector<uint64_t> buffer_bytes;
  for (const BoundArgument& argument : arguments) {
    Binding& binding = bindings.emplace_back();
    if (argument.buffer == 0) continue;
    const auto place = std::find(launch.buffers.begin(), launch.buffers.end(), argument.buffer);
    binding = {static_cast<size_t>(place - launch.buffers.begin()), argument.offset};
    if (place == launch.buffers.end()) {
      launch.buffers.push_back(argument.buffer);
      buffer_bytes.push_back(bytes_of(argument.buffer));
    }
  }
  launch.pattern = pattern_of(footprint, bindings, buffer_bytes);
  const auto id = static_cast<InternedId>(launches_.size());
  launches_.push_back(std::move(launch));
  launch_by_key_.emplace(key_, id);
  return id;
}

PatternId LaunchTable::pattern_of(FootprintId footprint, const std::vector<Binding>& bindings,
                                  const std::vector<uint64_t>& buffer_bytes) {
  Words key{footprint};
  for (const Binding& binding : bindings) {
    key.push_back(binding.buffer ? *binding.buffer + 1 : 0);
    key.push_back(binding.offset);
  }
  key.insert(key.end(), buffer_bytes.begin(), buffer_bytes.end());
  const auto known = pattern_by_key_.find(key);
  if (known != pattern_by_key_.end()) return known->second;
  const auto id = static_cast<PatternId>(patterns_.size());
  patterns_.push_back(bind(footprint, bindings, buffer_bytes));
  pattern_by_key_.emplace(std::move(key), id);
  return id;
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
  const ParsedFootprint& parsed = footprints_[footprint];
  const Dim3& grid = parsed.source.shape.grid;
  LaunchPattern pattern{footprint, grid, {}};
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
