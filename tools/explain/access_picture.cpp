#include "tools/explain/access_picture.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <tuple>

#include "relation/isl_relation.hpp"
#include "tools/explain/block_sample.hpp"

namespace sluice::tools {
namespace {

// isl gets about a second for each question, then the sentence is left out.
constexpr unsigned long operation_budget = 4'000'000;
constexpr size_t most_sharers_listed = 8;

// pitches_in() are the factors of the divisions of a relation, since rows show in them, and parts
// of them, since an unrolled loop does several rows at a time.
std::vector<Pitches> pitches_in(const Relation& relation) {
  std::set<int64_t, std::greater<>> numbers;
  const auto add = [&](const Relation::Row& row) {
    for (size_t i = relation.byte_column() + 1; i < row.size(); ++i) {
      for (const int64_t unrolled : {1, 2, 4, 8}) {
        if (row[i] % unrolled == 0 && row[i] != 0) numbers.insert(std::abs(row[i]) / unrolled);
      }
    }
  };
  for (const Relation::Piece& piece : relation.pieces) {
    std::ranges::for_each(piece.equal, add);
    std::ranges::for_each(piece.at_least, add);
  }
  std::vector<Pitches> pitches;
  for (const int64_t number : numbers)
    pitches.push_back({number});
  pitches.push_back({});
  return pitches;
}

int64_t coordinate(const isl::point& point, int position) {
  const isl::val value =
      isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, position));
  return value.get_num_si();
}

BlockIndex block_of(const isl::point& point) {
  return {uint32_t(coordinate(point, 0)), uint32_t(coordinate(point, 1)),
          uint32_t(coordinate(point, 2))};
}

Sharing sharing_of(const IslContext& context, const isl::map& relation, const Dim3& grid,
                   const BlockIndex& block) {
  Sharing sharing;
  sharing.none = yes(relation.is_injective());
  if (sharing.none || grid.count() < 2) return sharing;
  const isl::set everything = relation.range();
  const isl::map product = isl::map::from_domain_and_range(grid_blocks(context, grid), everything);
  sharing.everyone = yes(product.is_equal(relation));
  if (sharing.everyone) return sharing;
  const isl::set own = one_block(context, block);
  const isl::set others = own.apply(relation).apply(relation.reverse()).subtract(own);
  others.foreach_point([&](const isl::point& point) {
    if (sharing.others.size() == most_sharers_listed) {
      sharing.more = true;
      return isl::stat::error();
    }
    sharing.others.push_back(block_of(point));
    return isl::stat::ok();
  });
  std::sort(sharing.others.begin(), sharing.others.end(), [](const auto& a, const auto& b) {
    return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x);
  });
  return sharing;
}

// total_of() is what all blocks together touch; nothing where that is too much to list.
ByteRuns total_of(const IslContext& context, const isl::map& relation) {
  const isl::set bytes = relation.range();
  const auto hull = hull_of(bytes);
  if (!hull) return {};
  if (yes(byte_set(context, *hull).is_subset(bytes))) {
    return {*hull};
  }
  if (hull->size() > most_bytes_listed) return {};
  const isl::map together =
      isl::map::from_domain_and_range(one_block(context, {}), coalesced(bytes));
  const auto rows = rows_of(together);
  if (!rows) return {};
  const auto runs = RelationRuns::create(*rows);
  return runs ? (*runs)->of({}, {}).value_or(ByteRuns{}) : ByteRuns{};
}

BlockIndex example_block(const IslContext& context, const isl::map& relation, const Dim3& grid) {
  const BlockIndex middle{grid.x / 2, grid.y / 2, grid.z / 2};
  const isl::set blocks = relation.domain();
  if (!yes(one_block(context, middle).intersect(blocks).is_empty())) return middle;
  return block_of(blocks.lexmin().sample_point());
}

// take_pattern() fills in what the example touches and the formula for all blocks.
void take_pattern(IslContext& context, const isl::map& relation, const BlockSample& bytes,
                  const Dim3& grid, const Relation& rows, AccessPicture& picture) {
  if (bytes.is_listed()) {
    picture.runs = bytes.runs(0);
    picture.bytes = runtime::count_bytes(picture.runs);
  }
  for (const Pitches& pitches :
       bytes.is_listed() ? likely_pitches(picture.runs) : pitches_in(rows)) {
    const IslContext::Budget budget(context, operation_budget);
    auto pattern = fit_pattern(bytes, grid, pitches);
    if (!pattern || !yes(relation.is_subset(relation_of(context, *pattern)))) continue;
    const Box box = *bytes.box(0, pitches);
    // Of several ways to see the rows, the one that claims the least.
    if (picture.pattern && box_bytes(box) >= box_bytes(picture.box)) continue;
    picture.pattern = std::move(pattern);
    picture.box = box;
    picture.pitches = pitches;
  }
  if (!picture.pattern) picture.box = bytes.box(0, {}).value_or(Box{});
  const IslContext::Budget budget(context, operation_budget);
  if (!picture.bytes && picture.pattern && bytes.fills(picture.box, picture.pitches)) {
    picture.bytes = box_bytes(picture.box);
  }
}

}  // namespace

Result<AccessPicture> picture_of(const Relation& rows, const Dim3& grid) {
  const auto runs = RelationRuns::create(rows);
  if (!runs) return tl::unexpected(runs.error());
  IslContext context;
  const Result<isl::map> relation =
      within_grid(context, coalesced(map_of(context.get(), rows)), grid);
  if (!relation) return tl::unexpected(relation.error());
  AccessPicture picture;
  picture.nothing = yes(relation->is_empty());
  if (picture.nothing) return picture;
  picture.block = example_block(context, *relation, grid);
  take_pattern(context, *relation, BlockSample(context, *relation, **runs, grid, picture.block),
               grid, rows, picture);
  {
    const IslContext::Budget budget(context, operation_budget);
    picture.sharing = sharing_of(context, *relation, grid, picture.block);
  }
  const IslContext::Budget budget(context, operation_budget);
  picture.total = total_of(context, *relation);
  return picture;
}

}  // namespace sluice::tools
