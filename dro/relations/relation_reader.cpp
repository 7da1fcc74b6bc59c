#include "dro/relations/relation_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <isl/map.h>
#include <isl/mat.h>
#include <isl/space.h>

#include "dro/relations/relation_text.hpp"

namespace sluice::dro {
namespace {

isl_mat* matrix(isl_ctx* context, const std::vector<RelationText::Form>& rows, size_t columns) {
  isl_mat* result =
      isl_mat_alloc(context, static_cast<unsigned>(rows.size()), static_cast<unsigned>(columns));
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const int64_t value = column < rows[row].size() ? rows[row][column] : 0;
      result = isl_mat_set_element_val(result, static_cast<int>(row), static_cast<int>(column),
                                       isl_val_int_from_si(context, value));
    }
  }
  return result;
}

isl_space* space_of(isl_ctx* context, const std::vector<std::string>& names) {
  isl_space* space = isl_space_alloc(context, 0, block_dims, 1);
  for (unsigned i = 0; i < block_dims; ++i)
    space = isl_space_set_dim_name(space, isl_dim_in, i, names[i].c_str());
  return isl_space_set_dim_name(space, isl_dim_out, 0, names[block_dims].c_str());
}

}  // namespace

std::optional<isl::map> read_relation(isl::ctx context, std::string_view text) {
  const std::optional<RelationText> parsed = parse_relation(text);
  if (!parsed) return std::nullopt;
  isl_ctx* const ctx = context.get();
  isl_space* space = space_of(ctx, parsed->names);
  isl_map* relation = isl_map_empty(isl_space_copy(space));
  for (const RelationText::Piece& piece : parsed->pieces) {
    const size_t columns = 1 + relation_dims + piece.divisions;
    isl_basic_map* conjunction = isl_basic_map_from_constraint_matrices(
        isl_space_copy(space), matrix(ctx, piece.equal, columns),
        matrix(ctx, piece.at_least, columns), isl_dim_cst, isl_dim_in, isl_dim_out, isl_dim_div,
        isl_dim_param);
    relation = isl_map_union(relation, isl_map_from_basic_map(conjunction));
  }
  isl_space_free(space);
  return isl::manage(relation);
}

}  // namespace sluice::dro
