// The order of tasks by strips.
#pragma once

#include "schedule/plan.hpp"
#include "schedule/strips/find_strips.hpp"

namespace sluice::schedule {

// order_by_strips() fills plan.tasks and plan.tiles, tile after tile and strip after strip, in a
// topological order, and a queue for each of so many workers, which take strips in turn. The plan's
// launches are cut as `strips` says. Throws std::bad_alloc.
void order_by_strips(Plan& plan, const Strips& strips, uint32_t workers);

}  // namespace sluice::schedule
