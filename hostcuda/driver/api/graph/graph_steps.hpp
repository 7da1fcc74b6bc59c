// What graphs do, for whoever runs it: graph_steps() of block_abi.h.
#pragma once

#include <cstdint>

#include "hostcuda/block_abi.h"

namespace sluice::hostcuda {

int graph_steps(void* exec, void* stream, SluiceGraphSteps* steps);

}  // namespace sluice::hostcuda
