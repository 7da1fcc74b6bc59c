// The pieces of an access relation as integer constraints, read once so that working with them
// takes no isl.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <isl/set.h>

#include "dro/relations/relations.hpp"

namespace sluice::dro {

using BasicSet = std::unique_ptr<isl_basic_set, isl_basic_set* (*)(isl_basic_set*)>;

// Constraint is coefficients of variables, then of parameters, then a constant; their sum is zero
// (equality) or not negative.
struct Constraint {
  std::vector<int64_t> coefficients;
  bool equality = false;
};

// lifted_piece() is a piece of a relation { B[x, y, z] -> A[o] } as a set of x, y, z, o and its
// existentially quantified variables, in this order; null where isl gives up.
BasicSet lifted_piece(const isl::basic_map& piece);

// constraints_of() reads the constraints of a set, its variables in the given order. Nothing where
// there are too many or their numbers are too large.
std::optional<std::vector<Constraint>> constraints_of(isl_basic_set* set,
                                                      const std::vector<unsigned>& order);

}  // namespace sluice::dro
