// Launches whose blocks may wait for each other though nobody said so.
#pragma once

#include <cstdint>

#include "hostcuda/block_abi.h"

namespace sluice::hostcuda {

// run_waiting() runs the blocks of a launch in their order, `processors` of them at once and one
// more for each that waits (WaitListener), at most `most` at once: as many as the device is said to
// hold. False where there is no memory for their scratch; then nothing has run.
bool run_waiting(const SluiceBlockCode& code, const SluiceBlockLaunch& launch, uint32_t blocks,
                 uint32_t most, uint32_t processors);

}  // namespace sluice::hostcuda
