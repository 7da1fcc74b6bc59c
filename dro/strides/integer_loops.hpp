// Loops over the whole numbers that satisfy affine constraints, in plain integers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dro/boxes/box_separation.hpp"
#include "relation/budget.hpp"

namespace sluice::dro {

// IntegerLoops run through variables, each within the bounds that Fourier-Motzkin elimination of
// those further in leaves it, so that a loop may run in vain. The innermost has all constraints.
class IntegerLoops {
 public:
  // make() takes the variables from the outermost on, and constraints of no others. Nothing where a
  // variable has no bounds, where there are too many constraints, or past the budget.
  static std::optional<IntegerLoops> make(const std::vector<IntegerForm>& constraints,
                                          std::span<const size_t> variables, Budget& budget);

  // run() calls visit(values, last) with the value of each variable by its number, and the last one
  // of the innermost, of which `values` has the first. False where that says so, or past the
  // budget.
  using Values = std::array<int64_t, IntegerForm::most_variables>;
  using Visit = std::function<bool(const Values& values, int64_t last)>;
  bool run(Budget& budget, const Visit& visit) const;

 private:
  struct Loop {
    size_t variable = 0;
    std::vector<IntegerForm> bounds;  // that have the variable, and outer ones
  };
  bool run_from(size_t depth, Values& values, Budget& budget, const Visit& visit) const;

  std::vector<Loop> loops_;
  bool is_empty_ = false;
};

}  // namespace sluice::dro
