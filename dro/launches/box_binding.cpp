// How footprints are bound whose accesses are boxes.
#include <algorithm>
#include <iterator>
#include <utility>

#include "dro/launches/patterns.hpp"

namespace sluice::dro {
namespace {

// The bytes of one kind of access to one buffer are listed up to so many ranges.
constexpr size_t most_byte_ranges = size_t{1} << 18;

bool append_shifted(Boxes& boxes, const Boxes& more, uint64_t offset) {
  for (const BlockBoxes& piece : more) {
    auto moved = shifted(piece, static_cast<int64_t>(offset));
    if (!moved) return false;
    boxes.push_back(std::move(*moved));
  }
  return true;
}

uint64_t size_of(const Boxes& boxes) {
  uint64_t size = 0;
  for (const BlockBoxes& piece : boxes) {
    for (const BoxLevel& level : piece.levels)
      size += level.at.size();
  }
  return size;
}

// BufferBoxes collects what the arguments that point into one buffer do to it.
struct BufferBoxes {
  Boxes reads;
  Boxes writes;
  Boxes must_writes;
};

// boxed_access() lists the bytes; false where there are too many ranges.
bool boxed_access(BufferBoxes boxes, BufferAccess& access) {
  const auto reads = bytes_of(boxes.reads, most_byte_ranges);
  const auto writes = bytes_of(boxes.writes, most_byte_ranges);
  if (!reads || !writes) return false;
  access.read_bytes = ByteSet(*reads);
  access.written_bytes = ByteSet(*writes);
  access.must_written_bytes = access.written_bytes;
  if (boxes.must_writes.size() != boxes.writes.size()) {
    const auto must_writes = bytes_of(boxes.must_writes, most_byte_ranges);
    if (!must_writes) return false;
    access.must_written_bytes = ByteSet(*must_writes);
  }
  access.read_boxes = std::move(boxes.reads);
  access.write_boxes = std::move(boxes.writes);
  return true;
}

std::shared_ptr<const BlockBytes> by_block(const Boxes& boxes, const Dim3& grid) {
  std::vector<ByteRun> runs;
  if (!append_runs(boxes, grid, most_listed_runs, runs)) return nullptr;
  return std::make_shared<const BlockBytes>(static_cast<uint32_t>(grid.count()), std::move(runs));
}

}  // namespace

// find_boxes() finds the boxes of all accesses of a footprint, or none.
bool FootprintTable::find_boxes(ParsedFootprint& footprint) {
  const auto find = [&](ParsedAccess& access) {
    if (access.source == nullptr) return true;
    auto boxes = access.source->boxes(footprint.values, footprint.source->shape.grid);
    if (boxes) access.boxes = std::move(*boxes);
    return boxes.has_value();
  };
  footprint.has_boxes = std::all_of(
      footprint.arguments.begin(), footprint.arguments.end(), [&](ParsedArgument& argument) {
        return find(argument.reads) && find(argument.may_writes) && find(argument.must_writes);
      });
  if (!footprint.has_boxes) {
    for (ParsedArgument& each : footprint.arguments)
      each.reads.boxes = each.may_writes.boxes = each.must_writes.boxes = {};
  }
  return footprint.has_boxes;
}

bool PatternTable::bind_boxes(LaunchPattern& pattern) {
  ParsedFootprint& footprint = footprints_.at(*pattern.footprint);
  if (!footprint.has_boxes && !FootprintTable::find_boxes(footprint)) return false;
  std::vector<BufferBoxes> buffers(pattern.buffer_bytes.size());
  bool good = true;
  for (size_t i = 0; i < pattern.bindings.size() && good; ++i) {
    const Binding& binding = pattern.bindings[i];
    if (!binding.buffer) continue;
    const ParsedArgument& argument = footprint.arguments[i];
    BufferBoxes& boxes = buffers[*binding.buffer];
    const auto append = [&](const ParsedAccess& access, Boxes& to) {
      if (!access.whole_buffer) return append_shifted(to, access.boxes, binding.offset);
      to.push_back(whole_range(pattern.grid, pattern.buffer_bytes[*binding.buffer]));
      return true;
    };
    good = append(argument.reads, boxes.reads) && append(argument.may_writes, boxes.writes) &&
           append(argument.must_writes, boxes.writes);
    // Only what is exactly known may retire earlier writers: a superset of the bytes may not.
    if (footprint.source->arguments[i].must_writes.precision == analysis::Precision::exact) {
      good = good && append(argument.must_writes, boxes.must_writes);
    }
  }
  for (BufferBoxes& boxes : buffers) {
    BufferAccess& access = pattern.buffers.emplace_back();
    good = good && boxed_access(std::move(boxes), access);
    pattern.listed_ranges += size_of(access.read_boxes) + size_of(access.write_boxes);
    for (const ByteSet* bytes : {&access.read_bytes, &access.written_bytes})
      pattern.listed_ranges += bytes->intervals().ranges().size();
  }
  for (ParsedArgument& argument : footprint.arguments)
    argument.reads.boxes = argument.may_writes.boxes = argument.must_writes.boxes = {};
  footprint.has_boxes = false;
  if (!good) {
    pattern.buffers.clear();
    pattern.listed_ranges = 0;
  }
  return good;
}

bool PatternTable::is_listed(PatternId id) const {
  LaunchPattern& pattern = table_.at(id);
  if (!pattern.boxed || std::exchange(pattern.listing_tried, true)) return pattern.listed;
  if (pattern.grid.count() > most_listed_blocks) return false;
  std::vector<std::pair<std::shared_ptr<const BlockBytes>, std::shared_ptr<const BlockBytes>>>
      lists;
  uint64_t ranges = 0;
  for (const BufferAccess& access : pattern.buffers) {
    auto reads = by_block(access.read_boxes, pattern.grid);
    auto writes = reads == nullptr ? nullptr : by_block(access.write_boxes, pattern.grid);
    if (writes == nullptr) return false;
    ranges += reads->size() + writes->size();
    lists.emplace_back(std::move(reads), std::move(writes));
  }
  for (size_t i = 0; i < lists.size(); ++i) {
    pattern.buffers[i].block_reads = std::move(lists[i].first);
    pattern.buffers[i].block_writes = std::move(lists[i].second);
  }
  pattern.listed_ranges += ranges;
  listed_ranges_ += ranges;
  pattern.listed = true;
  return true;
}

}  // namespace sluice::dro
