// The order of a window's tasks: an optimisation, since any topological order is right.
#pragma once

#include "megakernel/layout.hpp"

namespace sluice::runtime {

// order_tasks() fills window.tasks from its slots and dependences, in a topological order.
void order_tasks(megakernel::Window& window);

}  // namespace sluice::runtime
