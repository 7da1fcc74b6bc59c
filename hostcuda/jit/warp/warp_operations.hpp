// Shuffles, votes, matches and reductions of one warp.
#pragma once

#include <cstdint>

#include "hostcuda/jit/warp/exchange.hpp"

namespace sluice::hostcuda::jit {

// WarpOperands are what each of 32 lanes brought: a value, and a shuffle's lane and c operands.
struct WarpOperands {
  const uint64_t* value = nullptr;
  const uint32_t* lane = nullptr;
  const uint32_t* clamp = nullptr;
};

// run_warp_operation() writes result and predicate of each lane in `participants`; other lanes'
// operands are not read. A shuffle from a lane that does not take part gives the lane its own
// value. Source: PTX ISA, shfl.sync, vote.sync, match.sync, redux.sync, activemask.
void run_warp_operation(SyncOperation operation, uint32_t participants,
                        const WarpOperands& operands, uint64_t* result, uint8_t* predicate);

}  // namespace sluice::hostcuda::jit
