// Addresses that depend on a variable which doubles or halves from round to round of a loop.
//
// Trees, scans and sorting networks go so: in each round each lane has another partner, twice or
// half as far away. Whoever writes and reads one buffer at such addresses exchanges with other
// lanes.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Value.h>

#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {

// reaches_by_doubling() says whether an address is computed, by arithmetic alone, from a variable
// of a loop that is the same for all lanes and is multiplied, divided or shifted in each round.
bool reaches_by_doubling(const llvm::Value& address, const llvm::LoopInfo& loops,
                         const Uniformity& uniformity);

}  // namespace sluice::hostcuda::jit
