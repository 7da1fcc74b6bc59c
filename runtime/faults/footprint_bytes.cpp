#include "runtime/faults/footprint_bytes.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>

#include "dro/boxes/relation_boxes.hpp"
#include "relation/access_loops.hpp"
#include "relation/isl_relation.hpp"

namespace sluice::runtime {
namespace {

// Some hundredths of a second.
constexpr unsigned long asking_operations = 100'000;
constexpr Budget::Cost listing_cost = {1 << 21, uint64_t{64} << 20U};

// The range that hull() of relation/ gives where it cannot tell.
bool is_known(const Range& range) {
  constexpr int64_t unbounded = int64_t{1} << 60;
  return range.begin > -unbounded && range.end < unbounded;
}

}  // namespace

FootprintBytes::FootprintBytes(const analysis::Footprint& footprint, IslContext& context)
    : footprint_(footprint), context_(context), known_(footprint.arguments.size()) {
  for (const analysis::Symbol& symbol : footprint.symbols)
    values_.push_back(symbol.value);
}

const analysis::Access& FootprintBytes::access(size_t slot, Use use) const {
  const analysis::ArgumentFootprint& argument = footprint_.arguments[slot];
  return use == Use::reads         ? argument.reads
         : use == Use::must_writes ? argument.must_writes
                                   : argument.may_writes;
}

bool FootprintBytes::is_exact(size_t slot, Use use) const {
  const analysis::Access& asked = access(slot, use);
  return use != Use::may_writes && asked.precision == analysis::Precision::exact &&
         !asked.relation.empty() && asked.relation.is_whole() &&
         asked.relation.parameters <= values_.size();
}

isl::map FootprintBytes::map(size_t slot, Use use) const {
  const Relation& relation = access(slot, use).relation;
  if (relation.empty() || !relation.is_whole()) return {};
  return map_at(context_.get(), relation, values_);
}

std::optional<dro::Boxes> FootprintBytes::boxes(size_t slot, Use use) const {
  const Relation& relation = access(slot, use).relation;
  if (relation.empty() || !relation.is_whole() || relation.parameters > values_.size()) return {};
  Budget cost(listing_cost);
  const std::span<const int64_t> values = values_;
  return dro::boxes_of(relation, values.first(relation.parameters), footprint_.shape.grid, cost);
}

const isl::set& FootprintBytes::set(size_t slot, Use use) {
  Known& known = known_[slot][static_cast<size_t>(use)];
  if (!std::exchange(known.has_set, true)) known.set = coalesced(map(slot, use).range());
  return known.set;
}

const std::optional<Range>& FootprintBytes::hull(size_t slot, Use use) {
  Known& known = known_[slot][static_cast<size_t>(use)];
  if (std::exchange(known.has_hull, true)) return known.hull;
  if (const auto found = boxes(slot, use)) return known.hull = dro::hull_of(*found);
  const IslContext::Budget budget(context_, asking_operations);
  const isl::map touched = map(slot, use);
  if (touched.is_null()) return known.hull;
  const isl::set bytes = touched.range();
  if (bytes.is_null()) return known.hull;
  const std::optional<Range> all = sluice::hull(bytes);
  if (all && is_known(*all)) known.hull = all;
  return known.hull;
}

const std::optional<ByteIntervals>& FootprintBytes::listed(size_t slot, Use use) {
  Known& known = known_[slot][static_cast<size_t>(use)];
  if (std::exchange(known.is_listed, true)) return known.bytes;
  if (const auto found = boxes(slot, use)) {
    Budget cost(listing_cost);
    return known.bytes = dro::bytes_of(*found, cost);
  }
  const Relation& relation = access(slot, use).relation;
  if (!relation.is_whole() || relation.parameters > values_.size()) return known.bytes;
  const IslContext::Budget budget(context_, asking_operations);
  const auto loops = AccessLoops::make(map_of(context_.get(), relation));
  std::vector<ByteRun> runs;
  Budget cost(listing_cost);
  if (!loops || !loops->list(values_, footprint_.shape.grid, cost, runs)) return known.bytes;
  std::vector<Range> ranges;
  ranges.reserve(runs.size());
  for (const ByteRun& run : runs)
    ranges.push_back({run.begin, run.end});
  known.bytes = ByteIntervals(std::move(ranges));
  return known.bytes;
}

std::optional<FootprintBytes::Outside> FootprintBytes::beyond(size_t slot, Use use,
                                                              const Range& within) {
  const IslContext::Budget budget(context_, asking_operations);
  const isl::map touched = map(slot, use);
  if (touched.is_null()) return std::nullopt;
  for (const char* const side : {"o >= {1}", "o < {0}"}) {
    const std::string text = fmt::format(fmt::runtime(side), within.begin, within.end);
    const isl::set outside(context_.get(), "{ A[o] : " + text + " }");
    const isl::map there = touched.intersect_range(outside);
    if (!there.is_empty().is_false()) continue;
    const std::optional<Range> all = sluice::hull(there.range());
    isl_point* const point = isl_set_sample_point(there.domain().lexmin().release());
    if (!all || !is_known(*all) || point == nullptr || isl_point_is_void(point) != isl_bool_false) {
      isl_point_free(point);
      continue;
    }
    const auto at = [&](int dimension) {
      isl_val* const value = isl_point_get_coordinate_val(point, isl_dim_set, dimension);
      const auto number = static_cast<uint32_t>(isl_val_get_num_si(value));
      isl_val_free(value);
      return number;
    };
    const Outside found{{at(0), at(1), at(2)}, *all};
    isl_point_free(point);
    return found;
  }
  return std::nullopt;
}

}  // namespace sluice::runtime
