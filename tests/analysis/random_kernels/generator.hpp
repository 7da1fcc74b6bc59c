// Random kernels and launches of them.
#pragma once

#include <cstdint>

#include "kernel_tree.hpp"

namespace sluice::analysis::random {

// generate() makes the kernel of a seed with the shape of its first launch. It may run for too
// long: evaluate() says so.
Kernel generate(uint64_t seed);

// vary() changes scalars, and sometimes the grid, for another launch of the same kernel.
void vary(Kernel& kernel, uint64_t seed);

}  // namespace sluice::analysis::random
