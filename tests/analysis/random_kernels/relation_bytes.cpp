#include "relation_bytes.hpp"

#include <algorithm>
#include <memory>

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/local_space.h>
#include <isl/lp.h>
#include <isl/map.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/val.h>

#include "base/number/floor_divide.hpp"
#include "byte_collector.hpp"
#include "relation/isl_relation.hpp"

namespace sluice::analysis::random {
namespace {

using Wide = __int128;

using Constraint = Piece::Constraint;

constexpr int64_t infinite = int64_t{1} << 60;
// A step goes once over the constraints: narrowing alone can take as many as a domain has values.
constexpr uint64_t most_steps_of_a_piece = 50'000;
constexpr uint64_t most_steps_of_a_byte = 2'000;  // isl decides what takes more
constexpr size_t byte_variable = 3;

// Search lists the bytes of one block in one piece. Domains are narrowed by every constraint until
// nothing changes, then the smallest is split.
class Search {
 public:
  enum class End { done, unbounded, too_long };

  // `steps` is what may still be spent, of this block or several.
  Search(const Piece& piece, uint64_t& steps) : piece_(piece), steps_(steps) {}

  End run(const std::array<int64_t, 3>& block, ByteCollector& bytes) {
    bytes_ = &bytes;
    Domains domains = piece_.domains;
    for (size_t i = 0; i < 3; ++i)
      domains[i] = {block[i], block[i]};
    return search(std::move(domains));
  }

  // contains() is nothing where the steps end before the search.
  std::optional<bool> contains(const std::array<int64_t, 3>& block, int64_t byte) {
    ByteCollector bytes;
    bytes_ = &bytes;
    Domains domains = piece_.domains;
    for (size_t i = 0; i < 3; ++i)
      domains[i] = {block[i], block[i]};
    if (byte < domains[byte_variable].low || byte > domains[byte_variable].high) return false;
    domains[byte_variable] = {byte, byte};
    first_is_enough_ = true;
    const End end = search(std::move(domains));
    if (!bytes.take().empty()) return true;
    if (end == End::too_long) return std::nullopt;
    return false;
  }

 private:
  // narrow() is false where nothing is left of a domain.
  static bool narrow(const Constraint& constraint, Domains& domains, bool& changed) {
    const auto& a = constraint.coefficients;
    Wide most = constraint.constant;  // the largest value of the whole sum
    for (size_t i = 0; i < a.size(); ++i)
      most += Wide(a[i]) * (a[i] > 0 ? domains[i].high : domains[i].low);
    if (most < 0) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      Domain& domain = domains[i];
      if (a[i] == 0 || domain.low == domain.high) continue;
      const Wide sum = most - Wide(a[i]) * (a[i] > 0 ? domain.high : domain.low);
      if (a[i] > 0) {
        const Wide low = -floor_divide(sum, Wide(a[i]));
        if (low > domain.high) return false;
        changed |= low > domain.low;
        domain.low = int64_t(std::max(Wide(domain.low), low));
      } else {
        const Wide high = floor_divide(sum, -Wide(a[i]));
        if (high < domain.low) return false;
        changed |= high < domain.high;
        domain.high = int64_t(std::min(Wide(domain.high), high));
      }
    }
    return true;
  }

  End search(Domains domains) {
    for (bool changed = true; changed;) {
      if (steps_ == 0) return End::too_long;
      --steps_;
      changed = false;
      for (const Constraint& constraint : piece_.constraints) {
        if (!narrow(constraint, domains, changed)) return End::done;
      }
    }
    size_t smallest = 0;
    const auto size = [&](size_t i) { return domains[i].high - domains[i].low; };
    for (size_t i = byte_variable + 1; i < domains.size(); ++i) {
      if (size(i) > 0 && (smallest == 0 || size(i) < size(smallest))) smallest = i;
    }
    const size_t widest = smallest == 0 ? byte_variable : smallest;
    if (size(widest) >= infinite) return End::unbounded;
    if (smallest == 0) {
      bytes_->add(domains[byte_variable].low, domains[byte_variable].high + 1);
      found_ = true;
      return End::done;
    }
    const Domain all = domains[smallest];
    for (int64_t value = all.low; value <= all.high; ++value) {
      domains[smallest] = {value, value};
      if (const End end = search(domains); end != End::done) return end;
      if (found_ && first_is_enough_) return End::done;
    }
    return End::done;
  }

  const Piece& piece_;
  uint64_t& steps_;
  ByteCollector* bytes_ = nullptr;
  bool first_is_enough_ = false;
  bool found_ = false;
};

// number_of() is a value, or 0 where it does not fit; then `fits` falls.
int64_t number_of(isl_val* value, bool& fits) {
  const bool is_small = isl_val_is_int(value) == isl_bool_true &&
                        isl_val_cmp_si(value, -infinite) >= 0 &&
                        isl_val_cmp_si(value, infinite) <= 0;
  fits &= is_small;
  return is_small ? isl_val_get_num_si(value) : 0;
}

void add_rows(isl_mat* matrix, bool equalities, Piece& piece) {
  const int rows = isl_mat_rows(matrix), columns = isl_mat_cols(matrix);
  for (int row = 0; row < rows; ++row) {
    Constraint constraint;
    for (int column = 0; column < columns; ++column) {
      isl_val* value = isl_mat_get_element_val(matrix, row, column);
      const int64_t number = number_of(value, piece.fits);
      isl_val_free(value);
      if (column == 0) {
        constraint.constant = number;
      } else {
        constraint.coefficients.push_back(number);
      }
    }
    piece.constraints.push_back(constraint);
    if (!equalities) continue;
    constraint.constant = -constraint.constant;
    for (int64_t& number : constraint.coefficients)
      number = -number;
    piece.constraints.push_back(constraint);
  }
  isl_mat_free(matrix);
}

// rational_bounds() confines what constraints together, but no single one, confine.
void rational_bounds(isl_basic_map* map, Piece& piece) {
  Domains& domains = piece.domains;
  isl_basic_set* lifted =
      isl_basic_set_lift(isl_basic_set_flatten(isl_basic_map_wrap(isl_basic_map_copy(map))));
  lifted = isl_basic_set_flatten(lifted);
  for (size_t i = 3; i < domains.size(); ++i) {
    isl_aff* variable = isl_aff_var_on_domain(
        isl_local_space_from_space(isl_basic_set_get_space(lifted)), isl_dim_set, unsigned(i));
    isl_val* low = isl_val_ceil(isl_basic_set_min_lp_val(lifted, variable));
    isl_val* high = isl_val_floor(isl_basic_set_max_lp_val(lifted, variable));
    if (isl_val_is_int(low) == isl_bool_true) domains[i].low = number_of(low, piece.fits);
    if (isl_val_is_int(high) == isl_bool_true) domains[i].high = number_of(high, piece.fits);
    isl_val_free(low);
    isl_val_free(high);
    isl_aff_free(variable);
  }
  isl_basic_set_free(lifted);
}

isl_stat add_piece(isl_basic_map* map, void* user) {
  auto& pieces = *static_cast<std::vector<Piece>*>(user);
  const bool is_plain = isl_basic_map_dim(map, isl_dim_in) == 3 &&
                        isl_basic_map_dim(map, isl_dim_out) == 1 &&
                        isl_basic_map_dim(map, isl_dim_param) == 0;
  Piece piece;
  if (is_plain) {
    add_rows(isl_basic_map_equalities_matrix(map, isl_dim_cst, isl_dim_param, isl_dim_in,
                                             isl_dim_out, isl_dim_div),
             true, piece);
    add_rows(isl_basic_map_inequalities_matrix(map, isl_dim_cst, isl_dim_param, isl_dim_in,
                                               isl_dim_out, isl_dim_div),
             false, piece);
    piece.domains.resize(4 + size_t(isl_basic_map_dim(map, isl_dim_div)));
    rational_bounds(map, piece);
    pieces.push_back(std::move(piece));
  }
  isl_basic_map_free(map);
  return is_plain ? isl_stat_ok : isl_stat_error;
}

}  // namespace

std::optional<RelationBytes> RelationBytes::read(const Relation& relation, const Dim3& grid) {
  RelationBytes bytes;
  bytes.grid_ = grid;
  bytes.relation_ = relation;
  bytes.blocks_.resize(grid.count());
  if (relation.empty()) return bytes;
  const std::unique_ptr<isl_ctx, decltype(&isl_ctx_free)> context(isl_ctx_alloc(), isl_ctx_free);
  isl_options_set_on_error(context.get(), ISL_ON_ERROR_CONTINUE);
  isl_map* map = map_of(isl::ctx(context.get()), relation).release();
  const isl_stat status = isl_map_foreach_basic_map(map, add_piece, &bytes.pieces_);
  isl_map_free(map);
  if (status != isl_stat_ok) return std::nullopt;
  std::vector<uint64_t> steps(bytes.pieces_.size(), most_steps_of_a_piece);
  for (size_t block = 0; block < grid.count(); ++block) {
    ByteCollector listed;
    for (size_t i = 0; i < bytes.pieces_.size(); ++i) {
      if (!bytes.pieces_[i].fits) {
        bytes.complete_ = false;
        continue;
      }
      const auto end = Search(bytes.pieces_[i], steps[i]).run(bytes.position(block), listed);
      if (end == Search::End::unbounded) return std::nullopt;
      if (end == Search::End::too_long) bytes.complete_ = false;
    }
    bytes.blocks_[block] = listed.take();
  }
  return bytes;
}

std::array<int64_t, 3> RelationBytes::position(size_t block) const {
  return {int64_t(block % grid_.x), int64_t(block / grid_.x % grid_.y),
          int64_t(block / grid_.x / grid_.y)};
}

bool RelationBytes::contains(size_t block, int64_t byte) const {
  bool is_decided = true;
  for (const Piece& piece : pieces_) {
    if (!piece.fits) {
      is_decided = false;
      continue;
    }
    uint64_t steps = most_steps_of_a_byte;
    const std::optional<bool> found = Search(piece, steps).contains(position(block), byte);
    if (found == true) return true;
    is_decided = is_decided && found.has_value();
  }
  return !is_decided && contains_by_isl(block, byte);
}

// contains_by_isl() is slow, and sure.
bool RelationBytes::contains_by_isl(size_t block, int64_t byte) const {
  const std::unique_ptr<isl_ctx, decltype(&isl_ctx_free)> context(isl_ctx_alloc(), isl_ctx_free);
  isl_map* map = map_of(isl::ctx(context.get()), relation_).release();
  for (unsigned i = 0; i < 3; ++i)
    map = isl_map_fix_si(map, isl_dim_in, i, int(position(block)[i]));
  map = isl_map_fix_val(map, isl_dim_out, 0, isl_val_int_from_si(context.get(), byte));
  const bool is_empty = isl_map_is_empty(map) == isl_bool_true;
  isl_map_free(map);
  return !is_empty;
}

}  // namespace sluice::analysis::random
