#include "tools/explain/block_sample.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::tools {
namespace {

constexpr uint64_t most_blocks_looked_at = 512;
constexpr size_t least_blocks_looked_at = 15;
// The bytes of more blocks than this comes to are not listed.
constexpr long most_bytes_looked_at = 1L << 23;

// sampled_blocks() are all blocks of a small grid, those that tell most first: the middle, its
// neighbours, the corners.
std::vector<BlockIndex> sampled_blocks(const Dim3& grid, const BlockIndex& middle) {
  std::vector<BlockIndex> blocks = {middle};
  const auto add = [&](const BlockIndex& block) {
    const auto is_it = [&](const BlockIndex& other) {
      return coordinates(other) == coordinates(block);
    };
    const bool inside = block.x < grid.x && block.y < grid.y && block.z < grid.z;
    if (inside && std::none_of(blocks.begin(), blocks.end(), is_it)) blocks.push_back(block);
  };
  for (const int step : {-1, 1}) {
    add({middle.x + uint32_t(step), middle.y, middle.z});
    add({middle.x, middle.y + uint32_t(step), middle.z});
    add({middle.x, middle.y, middle.z + uint32_t(step)});
  }
  for (unsigned corner = 0; corner < 8; ++corner) {
    add({(corner & 1) != 0 ? grid.x - 1 : 0, (corner & 2) != 0 ? grid.y - 1 : 0,
         (corner & 4) != 0 ? grid.z - 1 : 0});
  }
  if (grid.count() > most_blocks_looked_at) return blocks;
  for (uint32_t z = 0; z < grid.z; ++z) {
    for (uint32_t y = 0; y < grid.y; ++y) {
      for (uint32_t x = 0; x < grid.x; ++x)
        add({x, y, z});
    }
  }
  return blocks;
}

}  // namespace

std::array<int64_t, 3> coordinates(const BlockIndex& block) {
  return {block.x, block.y, block.z};
}

isl::set one_block(const IslContext& context, const BlockIndex& block) {
  return isl::set(context.get(), fmt::format("{{ B[{}, {}, {}] }}", block.x, block.y, block.z));
}

std::optional<Range> hull_of(const isl::set& bytes) {
  if (!yes(bytes.is_empty().negate())) return std::nullopt;
  const isl::val low = bytes.dim_min_val(0), high = bytes.dim_max_val(0);
  if (low.is_null() || high.is_null() || !yes(low.is_int()) || !yes(high.is_int())) {
    return std::nullopt;
  }
  return Range{low.get_num_si(), high.get_num_si() + 1};
}

BlockSample::BlockSample(const IslContext& context, const isl::map& relation, RelationRuns& lists,
                         const Dim3& grid, const BlockIndex& middle)
    : context_(context), relation_(relation) {
  const auto hull = hull_of(of(middle));
  const long span = hull ? hull->size() : most_bytes_listed + 1;
  is_listed_ = span <= most_bytes_listed;
  const size_t most = is_listed_ ? size_t(most_bytes_looked_at / span) : 0;
  for (const BlockIndex& block : sampled_blocks(grid, middle)) {
    if (blocks_.size() > std::max(most, least_blocks_looked_at)) break;
    if (yes(of(block).is_empty())) continue;
    blocks_.push_back(block);
    auto listed = is_listed_ ? lists.of(block, {}) : std::nullopt;
    is_listed_ = listed.has_value();
    if (listed) runs_.push_back(std::move(*listed));
  }
}

isl::set BlockSample::of(const BlockIndex& block) const {
  return one_block(context_, block).apply(relation_);
}

std::optional<Box> BlockSample::box(size_t number, const Pitches& pitches) const {
  return is_listed_ ? box_of(runs_[number], pitches) : box_by_isl(blocks_[number], pitches);
}

bool BlockSample::fills(const Box& box, const Pitches& pitches) const {
  std::string variables, constraints, place = "c";
  for (size_t i = 0; i < pitches.size(); ++i) {
    variables += fmt::format("i{}, ", i);
    constraints += fmt::format("{} <= i{} < {} and ", box[i].begin, i, box[i].end);
    place += fmt::format(" + {} i{}", pitches[i], i);
  }
  const isl::set whole(context_.get(),
                       fmt::format("{{ A[o] : exists {}c : {}{} <= c < {} and o = {} }}", variables,
                                   constraints, box.back().begin, box.back().end, place));
  return yes(whole.is_subset(of(blocks_.front())));
}

// box_by_isl() knows rows, but no planes.
std::optional<Box> BlockSample::box_by_isl(const BlockIndex& block, const Pitches& pitches) const {
  const isl::set bytes = of(block);
  if (pitches.empty()) {
    const auto hull = hull_of(bytes);
    if (!hull) return std::nullopt;
    return Box{*hull};
  }
  const auto part = [&](const char* formula) {
    return hull_of(bytes.apply(
        isl::map(context_.get(), fmt::format("{{ A[o] -> A[p] : p = {} }}",
                                             fmt::format(fmt::runtime(formula), pitches[0])))));
  };
  const auto rows = part("floor(o/{0})"), columns = part("o - {0} * floor(o/{0})");
  if (pitches.size() > 1 || !rows || !columns) return std::nullopt;
  return Box{*rows, *columns};
}

}  // namespace sluice::tools
