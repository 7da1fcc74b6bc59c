// How footprints are bound whose accesses are boxes.
#include <algorithm>
#include <iterator>
#include <utility>

#include "dro/launches/patterns.hpp"

namespace sluice::dro {
namespace {

// So many entries of tables are gone through in a step.
constexpr uint64_t places_a_step = 8;

bool append_shifted(Boxes& boxes, const Boxes& more, uint64_t offset, Budget& budget) {
  for (const BlockBoxes& piece : more) {
    // Levels that merge are gone through again.
    if (!budget.make<Interval>(places_of(piece) * piece.levels.size(), places_a_step)) return false;
    auto moved = shifted(piece, static_cast<int64_t>(offset));
    if (!moved) return false;
    boxes.push_back(std::move(*moved));
  }
  return true;
}

uint64_t size_of(const Boxes& boxes) {
  uint64_t size = 0;
  for (const BlockBoxes& piece : boxes)
    size += places_of(piece);
  return size;
}

// BufferBoxes collects what the arguments that point into one buffer do to it.
struct BufferBoxes {
  Boxes reads;
  Boxes writes;
  Boxes must_writes;
};

// boxed_access() lists the bytes; false past the budget.
bool boxed_access(BufferBoxes boxes, BufferAccess& access, Budget& budget) {
  const auto reads = dro::bytes_of(boxes.reads, budget);
  const auto writes = dro::bytes_of(boxes.writes, budget);
  if (!reads || !writes) return false;
  access.read_bytes = ByteSet(*reads);
  access.written_bytes = ByteSet(*writes);
  access.must_written_bytes = access.written_bytes;
  if (boxes.must_writes.size() != boxes.writes.size()) {
    const auto must_writes = dro::bytes_of(boxes.must_writes, budget);
    if (!must_writes) return false;
    access.must_written_bytes = ByteSet(*must_writes);
  }
  access.read_boxes = std::move(boxes.reads);
  access.write_boxes = std::move(boxes.writes);
  return true;
}

// by_block() lists what is in boxes or in strides; where both are there they say the same.
std::shared_ptr<const BlockBytes> by_block(const Boxes& boxes, const Strides& strides,
                                           const Dim3& grid, Budget& budget) {
  std::vector<ByteRun> runs;
  const bool listed =
      boxes.empty() ? append_runs(strides, budget, runs) : append_runs(boxes, grid, budget, runs);
  if (!listed) return nullptr;
  const auto blocks = static_cast<uint32_t>(grid.count());
  const Budget::Cost cost = BlockBytes::cost(blocks, runs);
  if (!budget.take(cost.steps, cost.bytes)) return nullptr;
  return std::make_shared<const BlockBytes>(blocks, std::move(runs));
}

// add_buffers() adds what is done to each buffer; false past the budget.
bool add_buffers(LaunchPattern& pattern, std::vector<BufferBoxes> buffers, Budget& budget) {
  for (BufferBoxes& boxes : buffers) {
    BufferAccess& access = pattern.buffers.emplace_back();
    if (!boxed_access(std::move(boxes), access, budget)) return false;
    pattern.listed_ranges += size_of(access.read_boxes) + size_of(access.write_boxes);
    for (const ByteSet* bytes : {&access.read_bytes, &access.written_bytes})
      pattern.listed_ranges += bytes->intervals().ranges().size();
  }
  return true;
}

}  // namespace

// find_boxes_by() finds the boxes of all accesses of a footprint, or none; boxes_of(access) is
// those of one.
template <class BoxesOf>
bool find_boxes_by(ParsedFootprint& footprint, const BoxesOf& boxes_of) {
  const auto find = [&](ParsedAccess& access) {
    if (access.source == nullptr) return true;
    auto boxes = boxes_of(*access.source);
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

bool FootprintTable::find_boxes(ParsedFootprint& footprint, Budget& budget) {
  const Dim3& grid = footprint.source->shape.grid;
  return find_boxes_by(footprint, [&](AccessTemplate& access) {
    return access.boxes(footprint.values, grid, budget);
  });
}

bool FootprintTable::find_written_boxes(ParsedFootprint& footprint, Budget& budget) {
  const Dim3& grid = footprint.source->shape.grid;
  return find_boxes_by(footprint, [&](const AccessTemplate& access) {
    return access.boxes_as_written(footprint.values, grid, budget);
  });
}

bool PatternTable::bind_boxes(LaunchPattern& pattern, Budget& budget) const {
  ParsedFootprint& footprint = footprints_.at(*pattern.footprint);
  if (!footprint.has_boxes && !FootprintTable::find_boxes(footprint, budget)) return false;
  std::vector<BufferBoxes> buffers(pattern.buffer_bytes.size());
  bool good = true;
  for (size_t i = 0; i < pattern.bindings.size() && good; ++i) {
    const Binding& binding = pattern.bindings[i];
    if (!binding.buffer) continue;
    const ParsedArgument& argument = footprint.arguments[i];
    BufferBoxes& boxes = buffers[*binding.buffer];
    const auto append = [&](const ParsedAccess& access, Boxes& to) {
      if (!access.whole_buffer) return append_shifted(to, access.boxes, binding.offset, budget);
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
  good = good && add_buffers(pattern, std::move(buffers), budget);
  for (ParsedArgument& argument : footprint.arguments)
    argument.reads.boxes = argument.may_writes.boxes = argument.must_writes.boxes = {};
  footprint.has_boxes = false;
  return good;
}

// bind_whole() has every block touch all of each buffer that it may touch, which takes next to
// nothing: what is written is not known to be.
void PatternTable::bind_whole(LaunchPattern& pattern) {
  const ParsedFootprint& footprint = footprints_.at(*pattern.footprint);
  std::vector<BufferBoxes> buffers(pattern.buffer_bytes.size());
  const auto add = [&](size_t buffer, Boxes& to) {
    if (to.empty()) to.push_back(whole_range(pattern.grid, pattern.buffer_bytes[buffer]));
  };
  for (size_t i = 0; i < pattern.bindings.size(); ++i) {
    const Binding& binding = pattern.bindings[i];
    if (!binding.buffer) continue;
    const analysis::ArgumentFootprint& argument = footprint.source->arguments[i];
    BufferBoxes& boxes = buffers[*binding.buffer];
    if (argument.reads.present()) add(*binding.buffer, boxes.reads);
    if (argument.may_writes.present() || argument.must_writes.present())
      add(*binding.buffer, boxes.writes);
  }
  Budget unbounded(Budget::unlimited);
  add_buffers(pattern, std::move(buffers), unbounded);
}

bool PatternTable::is_boxed(PatternId id, Budget& budget) const {
  LaunchPattern& pattern = table_.at(id);
  if (!pattern.strided || std::exchange(pattern.boxes_tried, true)) return pattern.boxed;
  if (pattern.boxed) return true;
  LaunchPattern bound;
  bound.footprint = pattern.footprint;
  bound.grid = pattern.grid;
  bound.bindings = pattern.bindings;
  bound.buffer_bytes = pattern.buffer_bytes;
  if (!bind_boxes(bound, budget)) return false;
  for (size_t i = 0; i < bound.buffers.size(); ++i) {
    pattern.buffers[i].read_boxes = std::move(bound.buffers[i].read_boxes);
    pattern.buffers[i].write_boxes = std::move(bound.buffers[i].write_boxes);
  }
  pattern.listed_ranges += bound.listed_ranges;
  listed_ranges_ += bound.listed_ranges;
  pattern.boxed = true;
  return true;
}

bool PatternTable::is_listed(PatternId id, Budget& budget) const {
  LaunchPattern& pattern = table_.at(id);
  const bool has_parts = pattern.boxed || pattern.strided;
  if (!has_parts || std::exchange(pattern.listing_tried, true)) return pattern.listed;
  if (pattern.grid.count() > most_listed_blocks) return false;
  std::vector<std::pair<std::shared_ptr<const BlockBytes>, std::shared_ptr<const BlockBytes>>>
      lists;
  uint64_t ranges = 0;
  for (const BufferAccess& access : pattern.buffers) {
    auto reads = by_block(access.read_boxes, access.read_strides, pattern.grid, budget);
    if (reads == nullptr) return false;
    auto writes = by_block(access.write_boxes, access.write_strides, pattern.grid, budget);
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
