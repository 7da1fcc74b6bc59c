// How footprints are bound to buffers by lists or by isl.
#include <algorithm>
#include <utility>

#include "dro/launches/patterns.hpp"

namespace sluice::dro {
namespace {

// So many runs are gone through in a step.
constexpr uint64_t runs_a_step = 8;

bool append_shifted(std::vector<ByteRun>& runs, const std::vector<ByteRun>& more, uint64_t offset,
                    Budget& budget) {
  if (!budget.make<ByteRun>(more.size(), runs_a_step)) return false;
  const auto shift = static_cast<int64_t>(offset);
  for (const ByteRun& run : more)
    runs.push_back({run.block, run.begin + shift, run.end + shift});
  return true;
}

bool append_whole(std::vector<ByteRun>& runs, const Dim3& grid, uint64_t bytes, Budget& budget) {
  if (!budget.make<ByteRun>(grid.count(), runs_a_step)) return false;
  for (uint32_t block = 0; block < grid.count(); ++block)
    runs.push_back({block, 0, static_cast<int64_t>(bytes)});
  return true;
}

// bytes_of() is nothing past the budget.
std::optional<ByteSet> bytes_of(const std::vector<ByteRun>& runs, Budget& budget) {
  if (!budget.make<Range>(2 * runs.size(), runs_a_step)) return std::nullopt;
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
  const auto begins_before = [](const Range& a, const Range& b) { return a.begin < b.begin; };
  if (!std::ranges::is_sorted(ranges, begins_before) &&
      !budget.take(sorting_steps(ranges.size()))) {
    return std::nullopt;
  }
  return ByteSet(ByteIntervals(std::move(ranges)));
}

// BufferRuns collects what the arguments that point into one buffer do to it.
struct BufferRuns {
  std::vector<ByteRun> reads;
  std::vector<ByteRun> writes;
  std::vector<ByteRun> must_writes;
};

// listed_access() is nothing past the budget.
std::optional<BufferAccess> listed_access(uint32_t blocks, BufferRuns runs, Budget& budget) {
  const auto reads = bytes_of(runs.reads, budget), writes = bytes_of(runs.writes, budget);
  auto must_writes = writes;
  if (runs.must_writes.size() != runs.writes.size())
    must_writes = bytes_of(runs.must_writes, budget);
  if (!reads || !writes || !must_writes) return std::nullopt;
  for (const auto* each : {&runs.reads, &runs.writes}) {
    const Budget::Cost cost = BlockBytes::cost(blocks, *each);
    if (!budget.take(cost.steps, cost.bytes)) return std::nullopt;
  }
  BufferAccess access{*reads, *writes, *must_writes, {}, {}, {}, {}};
  access.block_reads = std::make_shared<const BlockBytes>(blocks, std::move(runs.reads));
  access.block_writes = std::make_shared<const BlockBytes>(blocks, std::move(runs.writes));
  return access;
}

}  // namespace

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
                                    uint64_t offset, uint64_t buffer_bytes, Budget& budget) const {
  const Dim3& grid = footprint.source->shape.grid;
  const auto whole = [&] {
    const Range all{0, static_cast<int64_t>(buffer_bytes)};
    return isl::map::from_domain_and_range(grid_blocks(context_, grid), byte_set(context_, all));
  };
  if (access.whole_buffer) return whole();
  if (access.source == nullptr) return empty_access(context_);
  const auto relation = access.source->at(footprint.values, grid, budget);
  // What is boxed or strided was read without isl, which may refuse it.
  return relation ? sluice::shifted(*relation, offset) : whole();
}

std::vector<BufferRelations> PatternTable::bound_relations(const LaunchPattern& pattern,
                                                           Budget& budget) const {
  const isl::map nothing = empty_access(context_);
  std::vector<BufferRelations> relations(pattern.buffer_bytes.size(), {nothing, nothing});
  const ParsedFootprint& footprint = footprints_.at(*pattern.footprint);
  for (size_t i = 0; i < pattern.bindings.size(); ++i) {
    const Binding& binding = pattern.bindings[i];
    if (!binding.buffer) continue;
    const ParsedArgument& argument = footprint.arguments[i];
    BufferRelations& access = relations[*binding.buffer];
    const auto bound = [&](const ParsedAccess& part) {
      return bound_access(footprint, part, binding.offset, pattern.buffer_bytes[*binding.buffer],
                          budget);
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

const std::vector<BufferRelations>& PatternTable::relations(PatternId id, Budget& budget) const {
  LaunchPattern& pattern = table_.at(id);
  const IslWork work(context_, budget);
  if (pattern.relations.empty()) pattern.relations = bound_relations(pattern, budget);
  if (work.has_failed()) pattern.relations.clear();
  return pattern.relations;
}

void PatternTable::bind(LaunchPattern& pattern, Budget& budget) {
  const ParsedFootprint& footprint = footprints_.at(*pattern.footprint);
  const auto bound = [&](bool (PatternTable::*way)(LaunchPattern&, Budget&) const) {
    Budget part(budget, Budget::unlimited);
    if ((this->*way)(pattern, part)) return true;
    pattern.buffers.clear();
    pattern.relations.clear();
    pattern.listed_ranges = 0;
    return false;
  };
  pattern.boxed = footprint.boxed && bound(&PatternTable::bind_boxes);
  pattern.strided = footprint.strided && bound(&PatternTable::bind_strides);
  pattern.listed = footprint.listed && bound(&PatternTable::bind_listed);
  if (pattern.boxed || pattern.strided || pattern.listed) return;
  if (!footprint.whole && bound(&PatternTable::bind_by_isl)) return;
  pattern.boxed = true;
  bind_whole(pattern);
}

bool PatternTable::bind_by_isl(LaunchPattern& pattern, Budget& budget) const {
  const IslWork work(context_, budget);
  pattern.relations = bound_relations(pattern, budget);
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
                                     pattern.buffer_bytes[*binding.buffer], budget)
                            .range());
  }
  for (size_t i = 0; i < pattern.relations.size(); ++i) {
    BufferAccess& access = pattern.buffers.emplace_back();
    const auto reads = coalesced(pattern.relations[i].reads.range()),
               writes = coalesced(pattern.relations[i].writes.range()),
               must_writes = coalesced(must_written[i]);
    if (reads.is_null() || writes.is_null() || must_writes.is_null()) return false;
    access.read_bytes = ByteSet(reads);
    access.written_bytes = ByteSet(writes);
    access.must_written_bytes = ByteSet(must_writes);
  }
  return !work.has_failed();
}

bool PatternTable::bind_listed(LaunchPattern& pattern, Budget& budget) const {
  ParsedFootprint& footprint = footprints_.at(*pattern.footprint);
  if (!footprint.has_runs && !FootprintTable::list(footprint, budget)) return false;
  std::vector<BufferRuns> buffers(pattern.buffer_bytes.size());
  bool good = true;
  for (size_t i = 0; i < pattern.bindings.size(); ++i) {
    const Binding& binding = pattern.bindings[i];
    if (!binding.buffer) continue;
    const ParsedArgument& argument = footprint.arguments[i];
    BufferRuns& runs = buffers[*binding.buffer];
    const auto append = [&](const ParsedAccess& access, std::vector<ByteRun>& to) {
      return access.whole_buffer
                 ? append_whole(to, pattern.grid, pattern.buffer_bytes[*binding.buffer], budget)
                 : append_shifted(to, access.runs, binding.offset, budget);
    };
    good = good && append(argument.reads, runs.reads) && append(argument.may_writes, runs.writes) &&
           append(argument.must_writes, runs.writes);
    if (footprint.source->arguments[i].must_writes.precision == analysis::Precision::exact) {
      good = good && append(argument.must_writes, runs.must_writes);
    }
  }
  for (ParsedArgument& argument : footprint.arguments)
    argument.reads.runs = argument.may_writes.runs = argument.must_writes.runs = {};
  footprint.has_runs = false;
  for (size_t i = 0; i < buffers.size() && good; ++i) {
    auto access =
        listed_access(static_cast<uint32_t>(pattern.grid.count()), std::move(buffers[i]), budget);
    good = access.has_value();
    if (!good) break;
    pattern.listed_ranges += access->block_reads->size() + access->block_writes->size();
    pattern.buffers.push_back(std::move(*access));
  }
  return good;
}

}  // namespace sluice::dro
