#include "dro/launches/access_template.hpp"

#include <utility>

#include <isl/map.h>

#include "dro/boxes/relation_boxes.hpp"
#include "dro/strides/relation_strides.hpp"
#include "relation/isl_relation.hpp"

namespace sluice::dro {

Result<std::shared_ptr<AccessTemplate>> AccessTemplate::make(const IslContext& context,
                                                             const Relation& rows,
                                                             size_t most_parameters) {
  if (!rows.is_whole()) return invalid_input("the rows of a relation have not all their columns");
  if (rows.parameters > most_parameters) {
    return invalid_input("the footprint gives no value for a parameter of a relation");
  }
  auto made = std::make_shared<AccessTemplate>();
  made->context_ = &context;
  made->rows_ = rows;
  return made;
}

const isl::map& AccessTemplate::relation() const {
  if (!relation_ || relation_->is_null()) relation_ = coalesced(map_of(context_->get(), rows_));
  return *relation_;
}

Result<isl::map> AccessTemplate::at(std::span<const int64_t> values, const Dim3& grid,
                                    Budget& budget) const {
  const IslWork work(*context_, budget);
  isl_map* access = relation().copy();
  for (unsigned i = 0; i < rows_.parameters; ++i) {
    access = isl_map_fix_val(access, isl_dim_param, i,
                             isl_val_int_from_si(context_->get().get(), values[i]));
  }
  const isl::map closed =
      isl::manage(isl_map_project_out(access, isl_dim_param, 0, rows_.parameters));
  const isl::map found = rows_.parameters == 0 ? closed : coalesced(closed);
  if (work.has_failed()) return isl::map();
  if (found.is_null()) return invalid_input("not a relation that isl can read");
  auto within = within_grid(*context_, found, grid);
  if (work.has_failed()) return isl::map();
  return within;
}

bool AccessTemplate::list(std::span<const int64_t> values, const Dim3& grid, Budget& budget,
                          std::vector<ByteRun>& runs) {
  if (!std::exchange(loops_made_, true)) {
    const IslWork work(*context_, budget);
    if (!relation().is_null()) loops_ = AccessLoops::make(relation());
  }
  return loops_ && loops_->list(own(values), grid, budget, runs);
}

std::optional<Boxes> AccessTemplate::boxes(std::span<const int64_t> values, const Dim3& grid,
                                           Budget& budget) {
  if (auto found = boxes_as_written(values, grid, budget)) return found;
  if (!std::exchange(simplified_, true)) {
    const IslWork work(*context_, budget);
    simpler_ = rows_of(relation());
  }
  return simpler_ ? boxes_of(*simpler_, own(values), grid, budget) : std::nullopt;
}

std::optional<Boxes> AccessTemplate::boxes_as_written(std::span<const int64_t> values,
                                                      const Dim3& grid, Budget& budget) const {
  return boxes_of(rows_, own(values), grid, budget);
}

std::optional<Strides> AccessTemplate::strides(std::span<const int64_t> values, const Dim3& grid,
                                               Budget& budget) const {
  return strides_of(rows_, own(values), grid, budget);
}

}  // namespace sluice::dro
