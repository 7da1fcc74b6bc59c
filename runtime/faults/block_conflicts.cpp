#include "runtime/faults/block_conflicts.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <isl/point.h>
#include <isl/val.h>

#include "relation/isl_relation.hpp"

namespace sluice::runtime {
namespace {

// Some hundredths of a second each.
constexpr unsigned long pairing_operations = 100'000;
constexpr size_t most_runs = size_t{1} << 21;
constexpr uint64_t most_blocks = uint64_t{1} << 18;

// ListedRun is bytes that one block touches, by the first relation or the second.
struct ListedRun {
  Range bytes;
  uint64_t block = 0;
  bool is_second = false;
};

// Reach is how far the runs seen so far go, of two blocks that differ.
struct Reach {
  ListedRun farthest, other;

  void add(const ListedRun& run) {
    if (run.block == farthest.block || farthest.bytes.empty()) {
      if (run.bytes.end > farthest.bytes.end) farthest = run;
    } else if (run.bytes.end > farthest.bytes.end) {
      other = std::exchange(farthest, run);
    } else if (run.bytes.end > other.bytes.end) {
      other = run;
    }
  }
  // meeting() is a run of another block that goes on beyond a place; null where there is none.
  const ListedRun* meeting(const ListedRun& run) const {
    for (const ListedRun* before : {&farthest, &other}) {
      if (!before->bytes.empty() && before->block != run.block &&
          before->bytes.end > run.bytes.begin) {
        return before;
      }
    }
    return nullptr;
  }
};

BlockIndex index_of(uint64_t block, const Dim3& grid) {
  return {static_cast<uint32_t>(block % grid.x), static_cast<uint32_t>(block / grid.x % grid.y),
          static_cast<uint32_t>(block / grid.x / grid.y)};
}

// append() is false where the bytes cannot be listed, or are too many.
bool append(const BlockConflicts::Touched& touched, bool is_second, std::span<const int64_t> values,
            const Dim3& grid, std::vector<ListedRun>& runs) {
  const auto loops = RelationRuns::create(*touched.relation);
  if (!loops) return false;
  for (uint64_t block = 0; block < grid.count(); ++block) {
    const auto bytes = (*loops)->of(index_of(block, grid), values);
    if (!bytes || runs.size() + bytes->size() > most_runs) return false;
    for (const Range& run : *bytes)
      runs.push_back({{run.begin + touched.offset, run.end + touched.offset}, block, is_second});
  }
  return true;
}

std::string fixed(std::span<const int64_t> values) {
  std::string names, equal;
  for (size_t i = 0; i < values.size(); ++i) {
    names += fmt::format("{}p{}", i == 0 ? "" : ", ", i);
    equal += fmt::format("{}p{} = {}", i == 0 ? "" : " and ", i, values[i]);
  }
  return fmt::format("[{}] -> {{ : {} }}", names, values.empty() ? "1 = 1" : equal);
}

// first_common() is the first run of bytes that two lists share.
std::optional<Range> first_common(const ByteRuns& a, int64_t a_offset, const ByteRuns& b,
                                  int64_t b_offset) {
  for (const Range& left : a) {
    for (const Range& right : b) {
      const Range both{std::max(left.begin + a_offset, right.begin + b_offset),
                       std::min(left.end + a_offset, right.end + b_offset)};
      if (!both.empty()) return both;
    }
  }
  return std::nullopt;
}

}  // namespace

BlockConflicts::Pair& BlockConflicts::pair_of(const Relation& a, const Relation& b, int64_t shift) {
  const auto [entry, is_new] = pairs_.try_emplace(std::make_tuple(a, b, shift));
  Pair& pair = entry->second;
  if (!is_new) return pair;
  const IslContext::Budget budget(context_, pairing_operations);
  const isl::map left = map_of(context_.get(), a);
  const isl::map move(context_.get(), fmt::format("{{ A[o] -> A[o + ({})] }}", shift));
  const isl::map right = map_of(context_.get(), b).apply_range(move);
  const isl::map differ(context_.get(),
                        "{ B[x, y, z] -> B[u, v, w] : x != u or y != v or z != w }");
  pair.blocks = left.apply_range(right.reverse()).intersect(differ);
  const isl::boolean empty = pair.blocks.is_null() ? isl::boolean() : pair.blocks.is_empty();
  pair.found = empty.is_true()    ? Found::nowhere
               : empty.is_false() ? Found::somewhere
                                  : Found::too_long;
  return pair;
}

std::optional<std::pair<BlockIndex, BlockIndex>> BlockConflicts::sample(
    const isl::map& blocks, std::span<const int64_t> values) {
  const isl::set parameters(context_.get(), fixed(values));
  const isl::map chosen = blocks.intersect_params(parameters);
  isl_point* const point = isl_set_sample_point(isl_map_wrap(chosen.copy()));
  if (point == nullptr || isl_point_is_void(point) != isl_bool_false) {
    isl_point_free(point);
    return std::nullopt;
  }
  std::array<uint32_t, 6> at = {};
  for (int i = 0; i < 6; ++i) {
    isl_val* const value = isl_point_get_coordinate_val(point, isl_dim_set, i);
    at[static_cast<size_t>(i)] = static_cast<uint32_t>(isl_val_get_num_si(value));
    isl_val_free(value);
  }
  isl_point_free(point);
  return std::pair(BlockIndex{at[0], at[1], at[2]}, BlockIndex{at[3], at[4], at[5]});
}

BlockConflicts::Answer BlockConflicts::find(const Touched& a, const Touched& b,
                                            std::span<const int64_t> values, const Dim3& grid) {
  if (a.relation->empty() || b.relation->empty() || grid.count() < 2) return {};
  if (!a.relation->is_whole() || !b.relation->is_whole()) return {false, std::nullopt};
  const Pair& pair = pair_of(*a.relation, *b.relation, b.offset - a.offset);
  if (pair.found == Found::nowhere) return {};
  if (pair.found == Found::too_long) return list(a, b, values, grid);
  const IslContext::Budget budget(context_, pairing_operations);
  const auto blocks = sample(pair.blocks, values);
  if (!blocks) return budget.is_spent() ? list(a, b, values, grid) : Answer{};
  // What isl says is looked at without isl.
  const auto left = RelationRuns::create(*a.relation), right = RelationRuns::create(*b.relation);
  if (!left || !right) return {false, std::nullopt};
  const auto first = (*left)->of(blocks->first, values);
  const auto second = (*right)->of(blocks->second, values);
  if (!first || !second) return {false, std::nullopt};
  const std::optional<Range> common = first_common(*first, a.offset, *second, b.offset);
  if (!common) return {false, std::nullopt};
  return {true, BlockConflict{blocks->first, blocks->second, *common}};
}

BlockConflicts::Answer BlockConflicts::list(const Touched& a, const Touched& b,
                                            std::span<const int64_t> values, const Dim3& grid) {
  std::vector<ListedRun> runs;
  if (grid.count() > most_blocks || !append(a, false, values, grid, runs) ||
      !append(b, true, values, grid, runs)) {
    return {false, std::nullopt};
  }
  std::ranges::sort(runs, {}, [](const ListedRun& run) {
    return std::tuple(run.bytes.begin, run.bytes.end, run.block, run.is_second);
  });
  std::array<Reach, 2> reach;  // of the first's runs, of the second's
  for (const ListedRun& run : runs) {
    if (const ListedRun* const met = reach[run.is_second ? 0 : 1].meeting(run)) {
      const Range bytes{run.bytes.begin, std::min(run.bytes.end, met->bytes.end)};
      const BlockIndex here = index_of(run.block, grid), there = index_of(met->block, grid);
      return {true, run.is_second ? BlockConflict{there, here, bytes}
                                  : BlockConflict{here, there, bytes}};
    }
    reach[run.is_second ? 1 : 0].add(run);
  }
  return {};
}

}  // namespace sluice::runtime
