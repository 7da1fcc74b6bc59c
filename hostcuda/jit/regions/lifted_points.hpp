// Shuffles, votes and meetings under a branch of some threads, made points to which all come.
#pragma once

#include <llvm/IR/Function.h>

namespace sluice::hostcuda::jit {

// lift_points() takes operations of a warp out of the branches they stand under: the branch ends in
// front of the operation, all threads come to it, and a second branch on the same condition goes on
// behind it. Threads that would not have come bring what changes nobody's answer (0, or true to a
// vote for all) and don't look at theirs. That is how the last step of a block's reduction looks
// (`if (warp == 0) sum += __shfl_down_sync(...)`), whose threads then need no states of their own.
//
// An operation is lifted where each thread that takes the branch comes to it exactly once before
// the branch's paths meet again, and where the other path holds no point of its own: lanes at
// different operations of one mask may be each other's partners. It must be a barrier of a warp, a
// meeting of those lanes that come by, a shuffle, or a vote for any, for all or of a ballot.
// Returns whether anything was lifted.
bool lift_points(llvm::Function& function);

}  // namespace sluice::hostcuda::jit
