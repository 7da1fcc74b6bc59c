// Random nests: 1 to 4 loops deep, in blocks of 1 to 1024 threads.
#pragma once

#include <cstdint>

#include "nest_tree.hpp"

namespace sluice::nests {

// Nests of these seeds and those above have exchanges between the lanes of a warp under branches
// too, by whole warps and by some of their lanes.
inline constexpr uint64_t exchanging_seeds = 2'000'000'000;

// generate() makes the nest of a seed. Threads race for nothing, and meet only where all that have
// not ended come. It may run for long, though not for ever.
Nest generate(uint64_t seed);

}  // namespace sluice::nests
