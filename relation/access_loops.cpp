#include "relation/access_loops.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include <isl/map.h>
#include <isl/set.h>

#include "base/number/floor_divide.hpp"
#include "relation/isl_relation.hpp"

namespace sluice {
namespace {

constexpr size_t most_pieces = 16;
constexpr int most_loops = 12;
constexpr uint64_t forms_a_step = 8;

using BasicSet = std::unique_ptr<isl_basic_set, isl_basic_set* (*)(isl_basic_set*)>;

BasicSet managed(isl_basic_set* set) {
  return {set, isl_basic_set_free};
}

// lifted() is a piece { B[x, y, z] -> A[o] } as a set of x, y, z, o and its divisions, in this
// order.
BasicSet lifted(const isl::basic_map& piece) {
  return managed(isl_basic_set_flatten(isl_basic_set_lift(isl_basic_map_wrap(piece.copy()))));
}

}  // namespace

// add_piece() makes the loops of one piece. The existentially quantified variables become
// dimensions; then, from the innermost loop outwards, each loop takes the constraints that have its
// variable, and the variable is eliminated.
bool AccessLoops::add_piece(const isl::basic_map& relation, std::vector<Piece>& pieces) {
  BasicSet set = lifted(relation);
  if (set == nullptr) return false;
  const int loops = isl_basic_set_dim(set.get(), isl_dim_set);
  const auto parameters = static_cast<size_t>(isl_basic_set_dim(set.get(), isl_dim_param));
  if (loops < 4 || loops > most_loops) return false;
  std::vector<unsigned> order = {2, 1, 0};
  for (int i = 4; i < loops; ++i)
    order.push_back(static_cast<unsigned>(i));
  order.push_back(3);

  Piece piece;
  piece.loops.resize(static_cast<size_t>(loops));
  for (size_t level = piece.loops.size() + 1; level-- > 0;) {
    if (yes(isl::manage(isl_basic_set_is_empty(set.get())))) return true;
    const auto rows = conjunction_of(set.get());
    if (!rows || !rows->is_small()) return false;
    const auto coefficient = [&](const Relation::Row& row, size_t loop) {
      return row[1 + parameters + order[loop]];
    };
    const auto add = [&](const Relation::Row& row, bool equality) {
      const int64_t own = level > 0 ? coefficient(row, level - 1) : 0;
      if ((own == 0) != (level == 0)) return;
      // own * v + rest >= 0: v >= -rest / own, or v <= rest / -own.
      const auto form = [&](int64_t sign) {
        Bound made{level == 0 ? 1 : std::abs(own), {}, {}, sign * row[0]};
        for (size_t outer = 0; outer + 1 < level; ++outer)
          made.outer.push_back(sign * coefficient(row, outer));
        for (size_t i = 0; i < parameters; ++i)
          made.symbols.push_back(sign * row[1 + i]);
        return made;
      };
      if (level == 0) {
        piece.guards.push_back(form(1));
        if (equality) piece.guards.push_back(form(-1));
        return;
      }
      Loop& loop = piece.loops[level - 1];
      if (own > 0 || equality) loop.lower.push_back(form(own > 0 ? -1 : 1));
      if (own < 0 || equality) loop.upper.push_back(form(own > 0 ? -1 : 1));
    };
    for (const Relation::Row& row : rows->equal)
      add(row, true);
    for (const Relation::Row& row : rows->at_least)
      add(row, false);
    if (level == 0) break;
    const Loop& loop = piece.loops[level - 1];
    if (loop.lower.empty() || loop.upper.empty()) return false;
    // isl may say with a new variable what is left of an equality, such as that a sum is even. The
    // inner loop sees to that.
    set = managed(isl_basic_set_remove_redundancies(isl_basic_set_remove_divs(
        isl_basic_set_eliminate(set.release(), isl_dim_set, order[level - 1], 1))));
    if (set == nullptr) return false;
  }
  pieces.push_back(std::move(piece));
  return true;
}

std::optional<AccessLoops> AccessLoops::make(const isl::map& relation) {
  AccessLoops loops;
  const isl::stat done = relation.foreach_basic_map([&](const isl::basic_map& piece) {
    const bool good = loops.pieces_.size() < most_pieces && add_piece(piece, loops.pieces_);
    return good ? isl::stat::ok() : isl::stat::error();
  });
  if (!done.is_ok()) return std::nullopt;
  return loops;
}

// Runner runs one piece with the parameters' values put in. Arithmetic that leaves 64 bits ends it.
class AccessLoops::Runner {
 public:
  Runner(const Piece& piece, std::span<const int64_t> values, const Dim3& grid, Budget& budget,
         std::vector<ByteRun>& runs)
      : grid_(grid), budget_(budget), runs_(runs), depth_(piece.loops.size()) {
    for (const Bound& guard : piece.guards) {
      if (fixed(guard, values) < 0) empty_ = true;
    }
    for (const Loop& loop : piece.loops) {
      begins_.push_back(forms_.size());
      for (const Bound& bound : loop.lower)
        add(bound, values);
      middles_.push_back(forms_.size());
      for (const Bound& bound : loop.upper)
        add(bound, values);
    }
    begins_.push_back(forms_.size());
  }

  bool run() { return good_ && (empty_ || run_loop(0)); }

 private:
  // Form is a bound with its parameters put in; its coefficients stand in one array for all.
  struct Form {
    int64_t divisor;
    int64_t constant;
    size_t coefficients;
  };

  int64_t fixed(const Bound& bound, std::span<const int64_t> values) {
    int64_t sum = bound.constant;
    for (size_t i = 0; i < bound.symbols.size(); ++i)
      sum = plus_product(sum, bound.symbols[i], values[i]);
    return sum;
  }

  void add(const Bound& bound, std::span<const int64_t> values) {
    forms_.push_back({bound.divisor, fixed(bound, values), coefficients_.size()});
    coefficients_.insert(coefficients_.end(), bound.outer.begin(), bound.outer.end());
  }

  int64_t plus_product(int64_t sum, int64_t a, int64_t b) {
    int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &sum)) {
      good_ = false;
    }
    return sum;
  }

  int64_t value(const Form& form, size_t level) {
    int64_t sum = form.constant;
    const int64_t* coefficients = coefficients_.data() + form.coefficients;
    for (size_t i = 0; i < level; ++i)
      sum = plus_product(sum, coefficients[i], at_[i]);
    return sum;
  }

  // A step is a few comparisons; what is listed is one of the innermost loop's.
  bool run_loop(size_t level) {
    const uint64_t forms = begins_[level + 1] - begins_[level];
    if (!budget_.take(1 + forms / forms_a_step, sizeof(ByteRun) * (level + 1 == depth_))) {
      return false;
    }
    int64_t low = std::numeric_limits<int64_t>::min();
    int64_t high = std::numeric_limits<int64_t>::max();
    for (size_t i = begins_[level]; i < middles_[level]; ++i) {
      const Form& form = forms_[i];
      const int64_t sum = value(form, level);
      low = std::max(low, form.divisor == 1 ? sum : -floor_divide(-sum, form.divisor));
    }
    for (size_t i = middles_[level]; i < begins_[level + 1]; ++i) {
      const Form& form = forms_[i];
      const int64_t sum = value(form, level);
      high = std::min(high, form.divisor == 1 ? sum : floor_divide(sum, form.divisor));
    }
    if (!good_) return false;
    if (low > high) return true;
    if (level + 1 == depth_) return emit(low, high);
    for (at_[level] = low; at_[level] <= high; ++at_[level]) {
      if (!run_loop(level + 1)) return false;
    }
    return true;
  }

  bool emit(int64_t first, int64_t last) {
    const int64_t z = at_[0], y = at_[1], x = at_[2];
    if (last == std::numeric_limits<int64_t>::max()) return false;
    if (x < 0 || y < 0 || z < 0 || x >= grid_.x || y >= grid_.y || z >= grid_.z) return false;
    const auto block = static_cast<uint32_t>(x + int64_t{grid_.x} * (y + int64_t{grid_.y} * z));
    runs_.push_back({block, first, last + 1});
    return true;
  }

  const Dim3& grid_;
  Budget& budget_;
  std::vector<ByteRun>& runs_;
  const size_t depth_;
  std::vector<Form> forms_;
  std::vector<int64_t> coefficients_;
  std::vector<size_t> begins_;   // of each loop's lower forms
  std::vector<size_t> middles_;  // of its upper forms
  std::array<int64_t, most_loops> at_ = {};
  bool good_ = true;
  bool empty_ = false;
};

bool AccessLoops::list(std::span<const int64_t> values, const Dim3& grid, Budget& budget,
                       std::vector<ByteRun>& runs) const {
  return std::all_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return Runner(piece, values, grid, budget, runs).run();
  });
}

}  // namespace sluice
