// How the threads of a block run, for who asks (SLUICE_LOG=debug).
#pragma once

#include <string>

#include "hostcuda/jit/block/block_body.hpp"

namespace sluice::hostcuda::jit {

// told_way() says whether the threads run as loops between the points where they wait for each
// other or each has a state of its own, and counts those points with the PTX lines of the first of
// each kind.
std::string told_way(const KernelRegions& regions, bool structured);

}  // namespace sluice::hostcuda::jit
