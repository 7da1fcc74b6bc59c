// How footprints are read, and bound to buffers by lists or by isl.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "dro/launches/patterns.hpp"

namespace sluice::dro {
namespace {

// An access is listed that takes at most so many steps.
constexpr size_t most_listed_steps = size_t{1} << 18;

void append_shifted(std::vector<ByteRun>& runs, const std::vector<ByteRun>& more, uint64_t offset) {
  const auto shift = static_cast<int64_t>(offset);
  for (const ByteRun& run : more)
    runs.push_back({run.block, run.begin + shift, run.end + shift});
}

void append_whole(std::vector<ByteRun>& runs, const Dim3& grid, uint64_t bytes) {
  for (uint32_t block = 0; block < grid.count(); ++block)
    runs.push_back({block, 0, static_cast<int64_t>(bytes)});
}

ByteIntervals bytes_of(const std::vector<ByteRun>& runs) {
  std::vector<Range> ranges;
  ranges.reserve(runs.size());
  for (const ByteRun& run : runs) {
    // Neighbouring blocks mostly touch neighbouring bytes, so that little is left to sort.
    if (!ranges.empty() && run.begin <= ranges.back().end && run.begin >= ranges.back().begin) {
      ranges.back().end = std::max(ranges.back().end, run.end);
    } else {
      ranges.push_back({run.begin, run.end});
    }
  }
  return ByteIntervals(std::move(ranges));
}

// BufferRuns collects what the arguments that point into one buffer do to it.
struct BufferRuns {
  std::vector<ByteRun> reads;
  std::vector<ByteRun> writes;
  std::vector<ByteRun> must_writes;
};

BufferAccess listed_access(uint32_t blocks, BufferRuns runs) {
  BufferAccess access;
  access.read_bytes = ByteSet(bytes_of(runs.reads));
  access.written_bytes = ByteSet(bytes_of(runs.writes));
  access.must_written_bytes = runs.must_writes.size() == runs.writes.size()
                                  ? access.written_bytes
                                  : ByteSet(bytes_of(runs.must_writes));
  access.block_reads = std::make_shared<const BlockBytes>(blocks, std::move(runs.reads));
  access.block_writes = std::make_shared<const BlockBytes>(blocks, std::move(runs.writes));
  return access;
}

}  // namespace

Result<std::shared_ptr<AccessTemplate>> FootprintTable::template_of(const Relation& relation,
                                                                    size_t symbols) {
  if (const auto known = templates_.find(relation); known != templates_.end()) {
    if (auto alive = known->second.lock()) return alive;
  }
  auto made = AccessTemplate::make(context_, relation, symbols);
  if (!made) return made;
  if (template_bound_.is_passed_by(templates_.size())) {
    std::erase_if(templates_, [](const auto& entry) { return entry.second.expired(); });
    template_bound_.leave(templates_.size());
  }
  templates_[relation] = *made;
  return made;
}

Result<ParsedFootprint> FootprintTable::parse(const analysis::Footprint& footprint) {
  if (footprint.opaque()) {
    return invalid_input("an opaque footprint has no dependences of its own", footprint.kernel);
  }
  ParsedFootprint parsed{&footprint, {}, {}};
  for (const analysis::Symbol& symbol : footprint.symbols)
    parsed.values.push_back(symbol.value);
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
      auto relation = template_of(access.relation, parsed.values.size());
      if (!relation) {
        return invalid_input(
            relation.error().what,
            fmt::format("kernel {}, pointer argument {}, {}", footprint.kernel, i, what));
      }
      target.source = std::move(*relation);
    }
  }
  // What is boxed or listed has no block outside the grid.
  parsed.boxed = find_boxes(parsed);
  if (parsed.boxed) return parsed;
  parsed.listed = list(parsed);
  if (parsed.listed) return parsed;
  if (const Status good = check(parsed); !good) return tl::unexpected(good.error());
  return parsed;
}

// list() lists all accesses of a footprint, or none.
bool FootprintTable::list(ParsedFootprint& footprint) {
  const Dim3& grid = footprint.source->shape.grid;
  if (grid.count() > most_listed_blocks) return false;
  size_t count = 0;
  const auto list_one = [&](ParsedAccess& access) {
    if (access.source == nullptr) return true;
    if (!access.source->list(footprint.values, grid, most_listed_steps, access.runs)) {
      return false;
    }
    count += access.runs.size();
    return count <= most_listed_runs;
  };
  for (ParsedArgument& argument : footprint.arguments) {
    if (list_one(argument.reads) && list_one(argument.may_writes) &&
        list_one(argument.must_writes)) {
      continue;
    }
    for (ParsedArgument& each : footprint.arguments)
      each.reads.runs = each.may_writes.runs = each.must_writes.runs = {};
    return false;
  }
  footprint.runs = count;
  footprint.has_runs = true;
  return true;
}

Status FootprintTable::check(const ParsedFootprint& footprint) const {
  for (size_t i = 0; i < footprint.arguments.size(); ++i) {
    const ParsedArgument& argument = footprint.arguments[i];
    for (const ParsedAccess* access :
         {&argument.reads, &argument.may_writes, &argument.must_writes}) {
      if (access->source == nullptr) continue;
      const auto relation = access->source->at(footprint.values, footprint.source->shape.grid);
      if (!relation) {
        return invalid_input(relation.error().what, fmt::format("kernel {}, pointer argument {}",
                                                                footprint.source->kernel, i));
      }
    }
  }
  return {};
}

LaunchPattern PatternTable::of_host(std::span<const HostAccess> accesses,
                                    const std::vector<BufferId>& buffers) {
  LaunchPattern pattern;
  std::vector<std::vector<Range>> reads(buffers.size()), writes(buffers.size());
  for (const HostAccess& source : accesses) {
    const auto place = std::find(buffers.begin(), buffers.end(), source.buffer);
    (source.writes ? writes : reads)[static_cast<size_t>(place - buffers.begin())].push_back(
        {static_cast<int64_t>(source.begin), static_cast<int64_t>(source.end)});
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    BufferAccess& access = pattern.buffers.emplace_back();
    access.read_bytes = ByteSet(ByteIntervals(std::move(reads[i])));
    access.written_bytes = ByteSet(ByteIntervals(std::move(writes[i])));
    access.must_written_bytes = access.written_bytes;
  }
  return pattern;
}

isl::map PatternTable::bound_access(const ParsedFootprint& footprint, const ParsedAccess& access,
                                    uint64_t offset, uint64_t buffer_bytes) const {
  const Dim3& grid = footprint.source->shape.grid;
  if (access.whole_buffer) {
    const Range all{0, static_cast<int64_t>(buffer_bytes)};
    return isl::map::from_domain_and_range(grid_blocks(context_, grid), byte_set(context_, all));
  }
  if (access.source == nullptr) return empty_access(context_);
  const auto relation = access.source->at(footprint.values, grid);
  SLUICE_ASSERT(relation.has_value());  // parse() has seen it
  return sluice::shifted(*relation, offset);
}

std::vector<BufferRelations> PatternTable::bound_relations(const LaunchPattern& pattern) const {
  const isl::map nothing = empty_access(context_);
  std::vector<BufferRelations> relations(pattern.buffer_bytes.size(), {nothing, nothing});
  const ParsedFootprint& footprint = footprints_.at(*pattern.footprint);
  for (size_t i = 0; i < pattern.bindings.size(); ++i) {
    const Binding& binding = pattern.bindings[i];
    if (!binding.buffer) continue;
    const ParsedArgument& argument = footprint.arguments[i];
    BufferRelations& access = relations[*binding.buffer];
    const auto bound = [&](const ParsedAccess& part) {
      return bound_access(footprint, part, binding.offset, pattern.buffer_bytes[*binding.buffer]);
    };
    access.reads = access.reads.unite(bound(argument.reads));
    access.writes =
        access.writes.unite(bound(argument.may_writes)).unite(bound(argument.must_writes));
  }
  for (BufferRelations& access : relations) {
    access.reads = coalesced(access.reads);
    access.writes = coalesced(access.writes);
  }
  return relations;
}

const std::vector<BufferRelations>& PatternTable::relations(PatternId id) const {
  LaunchPattern& pattern = table_.at(id);
  if (pattern.relations.empty()) pattern.relations = bound_relations(pattern);
  return pattern.relations;
}

void PatternTable::bind(LaunchPattern& pattern) {
  if (pattern.boxed) pattern.boxed = bind_boxes(pattern);
  if (pattern.boxed) return;
  if (pattern.listed) return bind_listed(pattern);
  bind_by_isl(pattern);
}

void PatternTable::bind_by_isl(LaunchPattern& pattern) {
  pattern.relations = bound_relations(pattern);
  const ParsedFootprint& footprint = footprints_.at(*pattern.footprint);
  std::vector<isl::set> must_written(pattern.buffer_bytes.size(), empty_bytes(context_));
  for (size_t i = 0; i < pattern.bindings.size(); ++i) {
    const Binding& binding = pattern.bindings[i];
    // Only what is exactly known may retire earlier writers: a superset of the bytes may not.
    if (!binding.buffer ||
        footprint.source->arguments[i].must_writes.precision != analysis::Precision::exact) {
      continue;
    }
    isl::set& bytes = must_written[*binding.buffer];
    bytes = bytes.unite(bound_access(footprint, footprint.arguments[i].must_writes, binding.offset,
                                     pattern.buffer_bytes[*binding.buffer])
                            .range());
  }
  for (size_t i = 0; i < pattern.relations.size(); ++i) {
    BufferAccess& access = pattern.buffers.emplace_back();
    access.read_bytes = ByteSet(coalesced(pattern.relations[i].reads.range()));
    access.written_bytes = ByteSet(coalesced(pattern.relations[i].writes.range()));
    access.must_written_bytes = ByteSet(coalesced(must_written[i]));
  }
}

void PatternTable::bind_listed(LaunchPattern& pattern) {
  ParsedFootprint& footprint = footprints_.at(*pattern.footprint);
  if (!footprint.has_runs) {
    const bool again = FootprintTable::list(footprint);
    SLUICE_ASSERT(again);
  }
  std::vector<BufferRuns> buffers(pattern.buffer_bytes.size());
  for (size_t i = 0; i < pattern.bindings.size(); ++i) {
    const Binding& binding = pattern.bindings[i];
    if (!binding.buffer) continue;
    const ParsedArgument& argument = footprint.arguments[i];
    BufferRuns& runs = buffers[*binding.buffer];
    const auto append = [&](const ParsedAccess& access, std::vector<ByteRun>& to) {
      if (access.whole_buffer) {
        append_whole(to, pattern.grid, pattern.buffer_bytes[*binding.buffer]);
      } else {
        append_shifted(to, access.runs, binding.offset);
      }
    };
    append(argument.reads, runs.reads);
    append(argument.may_writes, runs.writes);
    append(argument.must_writes, runs.writes);
    if (footprint.source->arguments[i].must_writes.precision == analysis::Precision::exact) {
      append(argument.must_writes, runs.must_writes);
    }
  }
  for (BufferRuns& runs : buffers) {
    pattern.buffers.push_back(
        listed_access(static_cast<uint32_t>(pattern.grid.count()), std::move(runs)));
    const BufferAccess& access = pattern.buffers.back();
    pattern.listed_ranges += access.block_reads->size() + access.block_writes->size();
  }
  for (ParsedArgument& argument : footprint.arguments)
    argument.reads.runs = argument.may_writes.runs = argument.must_writes.runs = {};
  footprint.has_runs = false;
}

}  // namespace sluice::dro
