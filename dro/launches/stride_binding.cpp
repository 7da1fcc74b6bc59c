// How footprints are bound whose accesses are strides.
#include <algorithm>
#include <utility>

#include "dro/launches/patterns.hpp"
#include "dro/strides/relation_strides.hpp"

namespace sluice::dro {
namespace {

// BufferStrides collects what the arguments that point into one buffer do to it.
struct BufferStrides {
  Strides reads;
  Strides writes;
  Strides must_writes;
};

// strided_access() lists the bytes; false past the budget.
bool strided_access(BufferStrides strides, BufferAccess& access, Budget& budget) {
  const auto reads = dro::bytes_of(strides.reads, budget);
  const auto writes = dro::bytes_of(strides.writes, budget);
  if (!reads || !writes) return false;
  access.read_bytes = ByteSet(*reads);
  access.written_bytes = ByteSet(*writes);
  access.must_written_bytes = access.written_bytes;
  if (strides.must_writes != strides.writes) {
    const auto must_writes = dro::bytes_of(strides.must_writes, budget);
    if (!must_writes) return false;
    access.must_written_bytes = ByteSet(*must_writes);
  }
  access.read_strides = std::move(strides.reads);
  access.write_strides = std::move(strides.writes);
  return true;
}

bool append_shifted(const Strides& more, uint64_t offset, Strides& strides) {
  for (BlockStrides part : more) {
    if (__builtin_add_overflow(part.byte, static_cast<int64_t>(offset), &part.byte)) return false;
    strides.push_back(std::move(part));
  }
  return strides.size() <= 2 * most_parts;
}

}  // namespace

bool FootprintTable::find_strides(ParsedFootprint& footprint, Budget& budget) {
  const auto find = [&](ParsedAccess& access) {
    if (access.source == nullptr) return true;
    auto strides = access.source->strides(footprint.values, footprint.source->shape.grid, budget);
    if (strides) access.strides = std::move(*strides);
    return strides.has_value();
  };
  const Dim3& grid = footprint.source->shape.grid;
  return grid.y == 1 && grid.z == 1 &&
         std::all_of(footprint.arguments.begin(), footprint.arguments.end(),
                     [&](ParsedArgument& argument) {
                       return find(argument.reads) && find(argument.may_writes) &&
                              find(argument.must_writes);
                     });
}

// Few parts that each go on evenly: what they meet is known without a look at each block.
bool FootprintTable::has_few_strides(const ParsedFootprint& footprint) {
  constexpr size_t few = 2;
  const auto are_few = [](const ParsedAccess& access) {
    return access.strides.size() <= few &&
           std::ranges::all_of(access.strides, [](const BlockStrides& part) {
             return std::ranges::all_of(
                 part.levels, [](const StrideLevel& level) { return level.byte_stride == 0; });
           });
  };
  return std::ranges::all_of(footprint.arguments, [&](const ParsedArgument& argument) {
    return are_few(argument.reads) && are_few(argument.may_writes) && are_few(argument.must_writes);
  });
}

bool PatternTable::bind_strides(LaunchPattern& pattern, Budget& budget) const {
  const ParsedFootprint& footprint = footprints_.at(*pattern.footprint);
  std::vector<BufferStrides> buffers(pattern.buffer_bytes.size());
  for (size_t i = 0; i < pattern.bindings.size(); ++i) {
    const Binding& binding = pattern.bindings[i];
    if (!binding.buffer) continue;
    const ParsedArgument& argument = footprint.arguments[i];
    BufferStrides& strides = buffers[*binding.buffer];
    const auto append = [&](const ParsedAccess& access, Strides& to) {
      if (!access.whole_buffer) return append_shifted(access.strides, binding.offset, to);
      auto whole = every_block(pattern.grid.count(), pattern.buffer_bytes[*binding.buffer]);
      if (whole) to.push_back(std::move(*whole));
      return whole.has_value();
    };
    if (!append(argument.reads, strides.reads) || !append(argument.may_writes, strides.writes) ||
        !append(argument.must_writes, strides.writes)) {
      return false;
    }
    // Only what is exactly known may retire earlier writers: a superset of the bytes may not.
    if (footprint.source->arguments[i].must_writes.precision == analysis::Precision::exact &&
        !append(argument.must_writes, strides.must_writes)) {
      return false;
    }
  }
  for (BufferStrides& strides : buffers) {
    BufferAccess& access = pattern.buffers.emplace_back();
    if (!strided_access(std::move(strides), access, budget)) return false;
    for (const ByteSet* bytes : {&access.read_bytes, &access.written_bytes})
      pattern.listed_ranges += bytes->intervals().ranges().size();
  }
  return true;
}

bool PatternTable::is_strided(PatternId id, Budget& budget) const {
  LaunchPattern& pattern = table_.at(id);
  if (pattern.strided || !pattern.boxed || std::exchange(pattern.strides_tried, true))
    return pattern.strided;
  if (pattern.grid.y != 1 || pattern.grid.z != 1) return false;
  std::vector<std::pair<Strides, Strides>> found;
  for (const BufferAccess& access : pattern.buffers) {
    auto reads = strides_of(access.read_boxes, pattern.grid, budget);
    if (!reads) return false;
    auto writes = strides_of(access.write_boxes, pattern.grid, budget);
    if (!writes) return false;
    found.emplace_back(std::move(*reads), std::move(*writes));
  }
  for (size_t i = 0; i < found.size(); ++i) {
    pattern.buffers[i].read_strides = std::move(found[i].first);
    pattern.buffers[i].write_strides = std::move(found[i].second);
  }
  pattern.strided = true;
  return true;
}

}  // namespace sluice::dro
