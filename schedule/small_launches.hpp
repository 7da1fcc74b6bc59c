// Launches of one task, which need not stand where the program made them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/plan.hpp"

namespace sluice::schedule {

// small_first() is an order of the plan's launches: those of one task stand right behind their last
// master, the others as before. A counter that is cleared in each step would else stand between the
// launch that fills a buffer and the one that reads it and adds to the counter.
std::vector<uint32_t> small_first(const Plan& plan);

// put_in_order() has launch i be what was launch order[i]; put_back() undoes it and says the same
// of the plan's tasks.
void put_in_order(Plan& plan, std::span<const uint32_t> order);
void put_back(Plan& plan, std::span<const uint32_t> order);

}  // namespace sluice::schedule
