// Where the sweeps of a window begin beside each other.
//
// Where a field is cut into bands of rows, each with launches of its own, the last row of one band
// and the first of the next depend on each other in every step. Were all bands swept side by side,
// each would have to wait for the end of the one before it, and no tile could have two steps. So
// they are swept one behind the other, as the field is that they are parts of: a band begins where
// the one before it ends, and so do all launches that depend on it with no more than a lag.
#pragma once

#include "schedule/plan.hpp"

namespace sluice::schedule {

// find_begins() sets `begin` and `extent` of the plan's launches. All begin at 0, but for those
// that depend on each other only by the ends of their sweeps: these are put end to end. Launches of
// one task, as copies of such rows are, have no place of their own; what depends on another by them
// has its place by it. Throws std::bad_alloc.
void find_begins(Plan& plan);

}  // namespace sluice::schedule
