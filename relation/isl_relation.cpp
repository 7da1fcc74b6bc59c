#include "relation/isl_relation.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <isl/map.h>
#include <isl/mat.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

namespace sluice {
namespace {

using Row = Relation::Row;
using Piece = Relation::Piece;

std::optional<int64_t> number_at(isl_mat* matrix, int row, int column) {
  isl_val* value = isl_mat_get_element_val(matrix, row, column);
  const bool fits = isl_val_cmp_si(value, std::numeric_limits<long>::min()) >= 0 &&
                    isl_val_cmp_si(value, std::numeric_limits<long>::max()) <= 0;
  const int64_t number = fits ? isl_val_get_num_si(value) : 0;
  isl_val_free(value);
  return fits ? std::optional(number) : std::nullopt;
}

// read_rows() appends the rows of a matrix, which it takes; false where a number is too large.
bool read_rows(isl_mat* matrix, std::vector<Row>& rows) {
  const std::unique_ptr<isl_mat, isl_mat* (*)(isl_mat*)> owner(matrix, isl_mat_free);
  if (matrix == nullptr) return false;
  for (int row = 0; row < isl_mat_rows(matrix); ++row) {
    Row& numbers = rows.emplace_back();
    for (int column = 0; column < isl_mat_cols(matrix); ++column) {
      const auto number = number_at(matrix, row, column);
      if (!number) return false;
      numbers.push_back(*number);
    }
  }
  return true;
}

std::optional<Piece> piece_of(isl_basic_map* map) {
  Piece piece;
  const auto read = [&](auto* matrix_of, std::vector<Row>& rows) {
    return read_rows(
        matrix_of(map, isl_dim_cst, isl_dim_param, isl_dim_in, isl_dim_out, isl_dim_div), rows);
  };
  if (!read(isl_basic_map_equalities_matrix, piece.equal) ||
      !read(isl_basic_map_inequalities_matrix, piece.at_least)) {
    return std::nullopt;
  }
  piece.divisions = static_cast<uint32_t>(isl_basic_map_dim(map, isl_dim_div));
  return piece;
}

// places_of() is where the parameters of `map` stand in `parameters`.
std::optional<std::vector<size_t>> places_of(isl_map* map,
                                             std::span<const std::string> parameters) {
  std::vector<size_t> places(static_cast<size_t>(isl_map_dim(map, isl_dim_param)));
  std::iota(places.begin(), places.end(), 0);
  for (size_t i = 0; i < places.size() && !parameters.empty(); ++i) {
    const char* name = isl_map_get_dim_name(map, isl_dim_param, static_cast<unsigned>(i));
    const auto known = std::ranges::find(parameters, std::string(name == nullptr ? "" : name));
    if (known == parameters.end()) return std::nullopt;
    places[i] = static_cast<size_t>(known - parameters.begin());
  }
  return places;
}

// place_parameters() moves the numbers of parameters to their places among so many.
void place_parameters(Row& row, const std::vector<size_t>& places, size_t parameters) {
  Row placed(parameters);
  for (size_t i = 0; i < places.size(); ++i)
    placed[places[i]] = row[1 + i];
  row.erase(row.begin() + 1, row.begin() + 1 + static_cast<std::ptrdiff_t>(places.size()));
  row.insert(row.begin() + 1, placed.begin(), placed.end());
}

isl_mat* matrix_of(isl_ctx* context, const std::vector<Row>& rows, size_t columns) {
  isl_mat* matrix =
      isl_mat_alloc(context, static_cast<unsigned>(rows.size()), static_cast<unsigned>(columns));
  for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
    for (int column = 0; column < static_cast<int>(columns); ++column) {
      const int64_t number = rows[static_cast<size_t>(row)][static_cast<size_t>(column)];
      if (std::in_range<int>(number)) {
        matrix = isl_mat_set_element_si(matrix, row, column, static_cast<int>(number));
      } else {
        matrix = isl_mat_set_element_val(matrix, row, column, isl_val_int_from_si(context, number));
      }
    }
  }
  return matrix;
}

isl_space* space_of(isl_ctx* context, uint32_t count, std::span<const std::string> parameters) {
  isl_space* space = isl_space_alloc(context, count, 3, 1);
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = i < parameters.size() ? parameters[i] : fmt::format("p{}", i);
    space = isl_space_set_dim_name(space, isl_dim_param, i, name.c_str());
  }
  const char* const names[] = {"x", "y", "z"};
  for (unsigned i = 0; i < 3; ++i)
    space = isl_space_set_dim_name(space, isl_dim_in, i, names[i]);
  space = isl_space_set_dim_name(space, isl_dim_out, 0, "o");
  space = isl_space_set_tuple_name(space, isl_dim_in, "B");
  return isl_space_set_tuple_name(space, isl_dim_out, "A");
}

}  // namespace

std::optional<Relation> rows_of(const isl::map& relation, std::span<const std::string> parameters) {
  if (relation.is_null() || isl_map_dim(relation.get(), isl_dim_in) != 3 ||
      isl_map_dim(relation.get(), isl_dim_out) != 1) {
    return std::nullopt;
  }
  const auto places = places_of(relation.get(), parameters);
  if (!places) return std::nullopt;
  Relation rows{static_cast<uint32_t>(parameters.empty() ? places->size() : parameters.size()), {}};
  const isl::stat done = relation.foreach_basic_map([&](const isl::basic_map& map) {
    auto piece = piece_of(map.get());
    if (!piece) return isl::stat::error();
    for (auto* forms : {&piece->equal, &piece->at_least}) {
      for (Row& row : *forms)
        place_parameters(row, *places, rows.parameters);
    }
    rows.pieces.push_back(std::move(*piece));
    return isl::stat::ok();
  });
  if (!done.is_ok()) return std::nullopt;
  return rows;
}

Result<isl::map> within_grid(const IslContext& context, isl::map access, const Dim3& grid) {
  if (!yes(access.domain().is_subset(grid_blocks(context, grid)))) {
    return invalid_input(fmt::format("the relation has blocks outside the grid ({}, {}, {})",
                                     grid.x, grid.y, grid.z));
  }
  return access;
}

isl::map map_of(isl::ctx context, const Relation& relation,
                std::span<const std::string> parameters) {
  isl_ctx* const ctx = context.get();
  isl_space* space = space_of(ctx, relation.parameters, parameters);
  isl_map* map = isl_map_empty(isl_space_copy(space));
  for (const Piece& piece : relation.pieces) {
    const size_t columns = relation.byte_column() + 1 + piece.divisions;
    isl_basic_map* conjunction = isl_basic_map_from_constraint_matrices(
        isl_space_copy(space), matrix_of(ctx, piece.equal, columns),
        matrix_of(ctx, piece.at_least, columns), isl_dim_cst, isl_dim_param, isl_dim_in,
        isl_dim_out, isl_dim_div);
    map = isl_map_union(map, isl_map_from_basic_map(conjunction));
  }
  isl_space_free(space);
  return isl::manage(map);
}

isl::map map_at(isl::ctx context, const Relation& relation, std::span<const int64_t> values) {
  if (relation.parameters > values.size()) return {};
  isl_map* map = map_of(context, relation).release();
  for (unsigned i = 0; i < relation.parameters; ++i)
    map = isl_map_fix_val(map, isl_dim_param, i, isl_val_int_from_si(context.get(), values[i]));
  return isl::manage(isl_map_project_out(map, isl_dim_param, 0, relation.parameters));
}

std::string text_of(const Relation& relation, std::span<const std::string> parameters) {
  const IslContext context;
  const isl::map map = map_of(context.get(), relation, parameters);
  const std::unique_ptr<char, decltype(&std::free)> text(isl_map_to_str(map.get()), std::free);
  return text == nullptr ? "" : text.get();
}

std::optional<Piece> conjunction_of(isl_basic_set* set) {
  Piece piece;
  const auto read = [&](auto* matrix_of, std::vector<Row>& rows) {
    return read_rows(matrix_of(set, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div), rows);
  };
  if (!read(isl_basic_set_equalities_matrix, piece.equal) ||
      !read(isl_basic_set_inequalities_matrix, piece.at_least)) {
    return std::nullopt;
  }
  piece.divisions = static_cast<uint32_t>(isl_basic_set_dim(set, isl_dim_div));
  return piece;
}

}  // namespace sluice
