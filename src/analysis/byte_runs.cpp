#include "analysis/byte_runs.hpp"

#include <algorithm>
#include <set>

#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>

namespace sluice::analysis {
namespace {

constexpr size_t most_points = 1 << 17;

int64_t coordinate(isl_point* point, int position) {
  isl_val* value = isl_point_get_coordinate_val(point, isl_dim_set, position);
  const int64_t result = isl_val_get_num_si(value);
  isl_val_free(value);
  return result;
}

isl_stat take_point(isl_point* point, void* user) {
  auto& points = *static_cast<std::set<int64_t>*>(user);
  points.insert(coordinate(point, 0));
  isl_point_free(point);
  return points.size() < most_points ? isl_stat_ok : isl_stat_error;
}

isl_map* at_block(isl_map* relation, const std::array<int64_t, 3>& block) {
  isl_map* fixed = isl_map_copy(relation);
  for (unsigned i = 0; i < 3; ++i)
    fixed = isl_map_fix_si(fixed, isl_dim_in, i, int(block[i]));
  return fixed;
}

bool has_points(isl_map* relation) {
  return isl_map_is_empty(relation) == isl_bool_false;
}

std::array<int64_t, 3> first_block(isl_map* relation) {
  isl_point* point = isl_set_sample_point(isl_set_lexmin(isl_map_domain(isl_map_copy(relation))));
  std::array<int64_t, 3> block{};
  for (int i = 0; i < 3; ++i)
    block[size_t(i)] = coordinate(point, i);
  isl_point_free(point);
  return block;
}

}  // namespace

BlockBytes bytes_of_a_block(const std::string& relation, std::array<int64_t, 3> preferred) {
  BlockBytes result;
  isl_ctx* context = isl_ctx_alloc();
  isl_options_set_on_error(context, ISL_ON_ERROR_CONTINUE);
  isl_map* map = isl_map_read_from_str(context, relation.c_str());
  if (has_points(map)) {
    result.block = preferred;
    isl_map* fixed = at_block(map, preferred);
    if (!has_points(fixed)) {
      isl_map_free(fixed);
      result.block = first_block(map);
      fixed = at_block(map, result.block);
    }
    std::set<int64_t> points;
    isl_set* bytes = isl_map_range(fixed);
    result.complete = isl_set_foreach_point(bytes, take_point, &points) == isl_stat_ok;
    isl_set_free(bytes);
    for (int64_t point : points) {
      if (result.runs.empty() || result.runs.back().end != point) {
        result.runs.push_back({point, point});
      }
      ++result.runs.back().end;
    }
    result.bytes = points.size();
  }
  isl_map_free(map);
  isl_ctx_free(context);
  return result;
}

}  // namespace sluice::analysis
