// Where lanes of a warp meet without being asked to.
//
// On a GPU the lanes of a warp that have not parted run in step: a lane reads what another one
// stored by an earlier instruction, and not what it stores by a later one, without any barrier.
// Programs rely on that, most of all in the last steps of a sum in shared memory. Here a thread
// runs on alone until it has to wait, so the lanes are made to meet before an access that may touch
// what another lane of the warp has accessed since they last met, and where the order of the two
// matters (one of them writes, and not both are atomic). The rules:
//
// - Addresses are compared for each pair of lanes of each warp: the thread's index and the block's
//   extents are known, and so are the branches that a thread must have taken to get there.
// - In shared memory, what can't be told counts as touched, but for two stores that both scatter
//   (to places that each thread has from elsewhere): programs never rely on the order of those.
// - In other memory, only what is certain counts: the same pointer with offsets that differ by what
//   is known. Nothing else would leave out[i] = f(in[i]) alone. But where a loop's variable that
//   doubles or halves says how far lanes reach, as in trees, scans and sorting networks, what can't
//   be told counts for the buffer that they reach into (doubling_reach.hpp).
// - Lanes that have parted meet with those that come to the same place. Those ahead wait for those
//   behind (exchange.hpp), and lanes that parted inside a loop meet again where their ways join.
// - A lane that waits for another one in a loop (for a volatile word or by an atomic operation)
//   lets it run there and does not meet with it: since Volta that ends. A loop with a barrier of
//   the block in each round is none of these.
#pragma once

#include <llvm/IR/Function.h>

#include "base/dim3.hpp"

namespace sluice::hostcuda::jit {

// insert_warp_meetings() adds calls of sync_points.hpp's meeting to a thread function, and removes
// the waits of single instructions (ptx/lift.hpp) that wait for nothing. Returns how many meetings
// there are then.
unsigned insert_warp_meetings(llvm::Function& function, const Dim3& block);

}  // namespace sluice::hostcuda::jit
