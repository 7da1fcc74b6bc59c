// Cooperative launches: all blocks at once.
#pragma once

#include <cstdint>

#include "hostcuda/block_abi.h"

namespace sluice::hostcuda {

// run_resident() runs all blocks of a launch at the same time, each on a thread of its own, so that
// they can wait for each other, and returns when the last is done. It gives them a workspace for
// barriers of the grid. False where there are not enough threads or memory; then nothing has run.
// Thread-safe.
bool run_resident(const SluiceBlockCode& code, const SluiceBlockLaunch& launch, uint32_t blocks);

}  // namespace sluice::hostcuda
