// Constraints without some of their variables: Fourier-Motzkin elimination in whole numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "dro/boxes/box_separation.hpp"
#include "relation/budget.hpp"

namespace sluice::dro {

// tightened() is a constraint with its terms divided by what they have in common, and its constant
// rounded: no whole numbers are lost.
IntegerForm tightened(IntegerForm form);

// add_tightest() adds a constraint unless another with the same terms says as much.
void add_tightest(std::vector<IntegerForm>& forms, const IntegerForm& form);

// without() is the constraints that eliminating a variable leaves, tightened: those without it, and
// the sum of each lower and each upper bound of it. Nothing where numbers grow too large, or where
// it is to be `exactly` so (see below) and is not.
std::optional<std::vector<IntegerForm>> without(const std::vector<IntegerForm>& forms,
                                                size_t variable, bool exactly);

// eliminate_exactly() leaves out existential variables of which others tell all that matters: what
// is left has solutions where the constraints had. So `o = 4 e + 256 f + r` with 0 <= e < 64 and
// 0 <= r < 4, where e + 64 f is a thread's place in a loop that goes through a row, becomes bounds
// of o. It returns how many it left out; past the budget that may be fewer.
//
// After W. Pugh, "The Omega test" (1991): a x >= lower and b x <= upper have an x between them
// wherever a * upper - b * lower is at least (a - 1)(b - 1), and an exact elimination is one in
// which each such sum that is not negative is so large.
size_t eliminate_exactly(std::vector<IntegerForm>& forms, size_t variables, Budget& budget);

}  // namespace sluice::dro
