// An access relation as a footprint gives it: kept once, used for every launch of its family.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "dro/boxes/block_boxes.hpp"
#include "dro/strides/block_strides.hpp"
#include "relation/access_loops.hpp"
#include "relation/isl_context.hpp"
#include "relation/relation.hpp"

namespace sluice::dro {

// AccessTemplate is one relation, with parameters or without. isl gets it when that is needed,
// which takes some hundred microseconds: not where its rows show boxes. Past a budget no answer is
// kept but that there is none. Where the number of parameters' values differs from the relation's,
// that is a bug. Not thread-safe.
class AccessTemplate {
 public:
  // make() is an error where the rows are no relation with at most so many parameters. `context` is
  // needed as long as the template is.
  static Result<std::shared_ptr<AccessTemplate>> make(const IslContext& context,
                                                      const Relation& rows, size_t most_parameters);

  // at() is the relation where the parameters have these values, null past the budget; an error
  // where it has blocks outside the grid.
  Result<isl::map> at(std::span<const int64_t> values, const Dim3& grid, Budget& budget) const;

  // list() does as AccessLoops::list(); false also where there are no such loops.
  bool list(std::span<const int64_t> values, const Dim3& grid, Budget& budget,
            std::vector<ByteRun>& runs);

  // boxes() does as boxes_of(), with the rows as they are or as isl simplifies them;
  // boxes_as_written() and strides() (see strides_of()) with the rows as they are.
  std::optional<Boxes> boxes(std::span<const int64_t> values, const Dim3& grid, Budget& budget);
  std::optional<Boxes> boxes_as_written(std::span<const int64_t> values, const Dim3& grid,
                                        Budget& budget) const;
  std::optional<Strides> strides(std::span<const int64_t> values, const Dim3& grid,
                                 Budget& budget) const;

 private:
  // relation() is null where isl gives up.
  const isl::map& relation() const;
  std::span<const int64_t> own(std::span<const int64_t> values) const {
    return values.first(rows_.parameters);
  }

  const IslContext* context_ = nullptr;
  Relation rows_;
  mutable std::optional<isl::map> relation_;  // from when it is needed
  std::optional<Relation> simpler_;           // as isl simplifies the rows
  bool simplified_ = false;
  std::optional<AccessLoops> loops_;
  bool loops_made_ = false;
};

}  // namespace sluice::dro
