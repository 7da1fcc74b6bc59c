#include "analysis/polly/translate_folding.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <isl/aff.h>
#include <isl/local_space.h>
#include <isl/lp.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/val.h>

#include "analysis/polly/block_relation.hpp"

namespace sluice::analysis {
namespace {

constexpr isl_size most_pieces = 1024;
constexpr size_t most_shapes = 16;
constexpr size_t shortest_row = 3;
constexpr int most_rounds = 3;

// Shape is a piece moved to the origin, and where it stands.
struct Shape {
  isl::map piece;
  std::vector<int64_t> places;
};

isl::map moved(const isl::map& piece, int64_t first, int64_t step, size_t count) {
  const isl::map move(
      piece.ctx(), fmt::format("{{ A[o] -> A[p] : exists (k : 0 <= k < {} and p = o + {} + {}k) }}",
                               count, first, step));
  return piece.apply_range(move);
}

// place_of() is the lowest byte that a piece reaches in any block, or one under it as far away as
// in all pieces of that shape: the corner of its hull, which costs a tenth of the byte itself.
std::optional<int64_t> place_of(isl_basic_map* piece) {
  const auto byte = unsigned(isl_basic_map_dim(piece, isl_dim_in));
  isl_basic_set* hull = isl_basic_map_wrap(isl_basic_map_copy(piece));
  isl_aff* place_in_hull = isl_aff_var_on_domain(
      isl_local_space_from_space(isl_basic_set_get_space(hull)), isl_dim_set, byte);
  isl_val* lowest = isl_val_ceil(isl_basic_set_min_lp_val(hull, place_in_hull));
  isl_basic_set_free(hull);
  isl_aff_free(place_in_hull);
  std::optional<int64_t> place;
  if (lowest != nullptr && isl_val_is_int(lowest) == isl_bool_true) {
    place = isl_val_get_num_si(lowest);
  }
  isl_val_free(lowest);
  return place;
}

// Piece is one of a relation, and its place, if it has one.
struct Piece {
  isl::map relation;
  std::optional<int64_t> place;
};

isl_stat take_piece(isl_basic_map* piece, void* user) {
  const auto place = place_of(piece);
  static_cast<std::vector<Piece>*>(user)->push_back(
      {isl::manage(isl_map_from_basic_map(piece)), place});
  return isl_stat_ok;
}

// Folder sorts pieces by shape and puts each shape's regular rows together.
class Folder {
 public:
  isl::map fold(const isl::map& relation) {
    std::vector<Piece> pieces;
    if (isl_map_foreach_basic_map(relation.get(), take_piece, &pieces) != isl_stat_ok) return {};
    for (const Piece& piece : pieces)
      sort_in(piece.relation, piece.place);
    for (const Shape& shape : shapes_)
      add(translated(shape.piece, shape.places));
    return result_;
  }

 private:
  void add(const isl::map& piece) { result_ = result_.is_null() ? piece : result_.unite(piece); }

  void sort_in(const isl::map& piece, std::optional<int64_t> place) {
    if (!place) return add(piece);
    const isl::map origin = moved(piece, -*place, 0, 1);
    for (Shape& shape : shapes_) {
      const auto is_same = [&] {
        return isl_map_plain_is_equal(shape.piece.get(), origin.get()) == isl_bool_true ||
               isl_map_is_equal(shape.piece.get(), origin.get()) == isl_bool_true;
      };
      if (holds_within_budget(piece.ctx(), is_same)) {
        shape.places.push_back(*place);
        return;
      }
    }
    if (shapes_.size() == most_shapes) return add(piece);
    shapes_.push_back({origin, {*place}});
  }

  std::vector<Shape> shapes_;
  isl::map result_;
};

}  // namespace

isl::map translated(const isl::map& piece, std::vector<int64_t> places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  isl::map all;
  for (size_t first = 0; first < places.size();) {
    size_t end = std::min(first + 2, places.size());
    const int64_t step = places[end - 1] - places[first];
    while (end < places.size() && places[end] - places[end - 1] == step)
      ++end;
    if (end - first < shortest_row) end = first + 1;
    const isl::map row = moved(piece, places[first], step, end - first);
    all = all.is_null() ? row : all.unite(row);
    first = end;
  }
  return all;
}

isl::map fold_translates(const isl::map& relation) {
  isl::map folded = relation;
  for (int round = 0; round < most_rounds; ++round) {
    const isl_size before = isl_map_n_basic_map(folded.get());
    if (before < isl_size(shortest_row) || before > most_pieces) break;
    const isl::map next = Folder().fold(folded);
    if (next.is_null() || isl_map_n_basic_map(next.get()) >= before) break;
    folded = next;
  }
  if (folded.is_null() || folded.get() == relation.get()) return relation;
  isl_map* named = folded.copy();
  for (unsigned i = 0; i < 3; ++i) {
    named = isl_map_set_dim_name(named, isl_dim_in, i,
                                 isl_map_get_dim_name(relation.get(), isl_dim_in, i));
  }
  named = isl_map_set_dim_name(named, isl_dim_out, 0, "o");
  return isl::manage(named);
}

}  // namespace sluice::analysis
