// The order of a plan's tasks: an optimisation, since any topological order is right.
#pragma once

#include <cstdint>

#include "schedule/plan.hpp"

namespace sluice::schedule {

// order_by_tiles() fills plan.tasks from its launches and dependences, tile after tile, in a
// topological order, and the worker queues where the tiles have parts. run_by_tiles() makes the
// runs of that order; its tiles have no parts.
void order_by_tiles(Plan& plan);
void run_by_tiles(Plan& plan);

// order_by_worker() fills plan.tasks launch after launch and gives each worker an equal part of
// every launch, so that it finds in its cache what it left there. (Queues in opposite directions,
// which need of each other what was run a round before, wait as long.)
void order_by_worker(Plan& plan, uint32_t workers);

// order_randomly() fills plan.tasks in a random topological order, for tests.
void order_randomly(Plan& plan, uint32_t seed);

}  // namespace sluice::schedule
