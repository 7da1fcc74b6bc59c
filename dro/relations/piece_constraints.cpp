#include "dro/relations/piece_constraints.hpp"

#include <isl/map.h>
#include <isl/mat.h>
#include <isl/val.h>

namespace sluice::dro {
namespace {

constexpr int most_constraints = 64;
constexpr int64_t largest_coefficient = int64_t{1} << 40;

// read_rows() appends the rows of a matrix of constraints; false where a number is too large.
bool read_rows(isl_mat* matrix, bool equality, const std::vector<unsigned>& order,
               std::vector<Constraint>& constraints) {
  const std::unique_ptr<isl_mat, isl_mat* (*)(isl_mat*)> owner(matrix, isl_mat_free);
  if (matrix == nullptr) return false;
  const int columns = isl_mat_cols(matrix);
  for (int row = 0; row < isl_mat_rows(matrix); ++row) {
    Constraint& constraint = constraints.emplace_back();
    constraint.equality = equality;
    for (int i = 0; i < columns; ++i) {
      const size_t place = static_cast<size_t>(i);
      const int column = place < order.size() ? static_cast<int>(order[place]) : i;
      const isl::val value = isl::manage(isl_mat_get_element_val(matrix, row, column));
      const isl::val limit(value.ctx(), static_cast<long>(largest_coefficient));
      if (value.is_null() || !yes(value.abs().le(limit))) return false;
      constraint.coefficients.push_back(value.get_num_si());
    }
  }
  return true;
}

}  // namespace

BasicSet lifted_piece(const isl::basic_map& piece) {
  return {isl_basic_set_flatten(isl_basic_set_lift(isl_basic_map_wrap(piece.copy()))),
          isl_basic_set_free};
}

std::optional<std::vector<Constraint>> constraints_of(isl_basic_set* set,
                                                      const std::vector<unsigned>& order) {
  std::vector<Constraint> constraints;
  isl_mat* equalities =
      isl_basic_set_equalities_matrix(set, isl_dim_set, isl_dim_param, isl_dim_cst, isl_dim_div);
  isl_mat* inequalities =
      isl_basic_set_inequalities_matrix(set, isl_dim_set, isl_dim_param, isl_dim_cst, isl_dim_div);
  const bool read = read_rows(equalities, true, order, constraints);
  if (!read_rows(inequalities, false, order, constraints) || !read) return std::nullopt;
  if (constraints.size() > most_constraints) return std::nullopt;
  return constraints;
}

}  // namespace sluice::dro
