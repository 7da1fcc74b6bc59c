// Which instructions of a kernel matter to no footprint. Internal to the analysis.
#pragma once

#include <unordered_set>

#include "ptx/syntax.hpp"

namespace sluice::analysis {

// data_only() are the instructions of a kernel's body that compute nothing but data: arithmetic,
// products of matrices and uses of shared memory on which no address, branch, call or atomic
// operation depends, but only what is stored in global or shared memory. Without them the kernel
// touches the same bytes under the same conditions. Unrolled kernels consist of little else, and
// lifting and following what they compute takes most of the time of analysing them.
//
// An instruction that the lifter refuses makes the kernel unsupported, whatever it computes: only
// usual forms on declared registers are found. Names count for the whole body, whatever scope they
// stand in, so too few are found and never too many. Thread-safe.
std::unordered_set<const ptx::Instruction*> data_only(const ptx::Block& body);

}  // namespace sluice::analysis
