// Task bodies and the scheduler kernel as one PTX module, by merging their syntax trees: no linker
// of the toolkit is needed, and every driver that loads the program's own PTX loads this.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "hostcuda/block_abi.h"
#include "megakernel/cuda/body.hpp"

namespace sluice::megakernel {

// The kernel of a linked module; its one parameter is a SluiceWindow.
constexpr const char* megakernel_name = SLUICE_MEGAKERNEL_NAME;

// scheduler_ptx() is the scheduler kernel as it was compiled when Sluice was built. It asks for no
// newer PTX than 6.4 and no newer GPU than sm_75.
std::string_view scheduler_ptx();

// worker_threads() is how many threads a worker has that runs any of the bodies.
uint32_t worker_threads(std::span<const TaskBody* const> bodies);

// link_megakernel() returns PTX in which body i has number i. It asks for the newest PTX version
// and the newest GPU that one of the bodies' own modules asks for. Bodies must have been rewritten
// with different prefixes; at least one. A thread takes at most so many registers, 0: as many as
// the driver's compiler likes. Thread-safe.
Result<std::string> link_megakernel(std::span<const TaskBody* const> bodies,
                                    uint32_t most_registers = 0);

}  // namespace sluice::megakernel
