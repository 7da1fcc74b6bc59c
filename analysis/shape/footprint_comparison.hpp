// How a footprint with parameters compares with one of a single shape. Internal to the analysis.
#pragma once

#include "analysis/footprint.hpp"
#include "relation/budget.hpp"

namespace sluice::analysis {

// closed() is the same footprint with the values of its symbols put in, so without parameters.
Footprint closed(const Footprint& footprint);

// is_as_good_as() is true where `symbolic`, a footprint with parameters or one shape of it, says as
// much of a launch as `specialised`: each access is there in both and of the same precision.
bool is_as_good_as(const Footprint& symbolic, const Footprint& specialised);

// are_equally_exact() is true where, in addition, the exact accesses of `instance`, with the values
// of its symbols, are the same bytes as those of `specialised`, which has none; false where the
// budget does not suffice to say so.
bool are_equally_exact(const Footprint& instance, const Footprint& specialised, Budget& budget);

}  // namespace sluice::analysis
