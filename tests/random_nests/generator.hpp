// Random nests: 1 to 4 loops deep, in blocks of 1 to 1024 threads.
#pragma once

#include <cstdint>

#include "nest_tree.hpp"

namespace sluice::nests {

// generate() makes the nest of a seed. Threads race for nothing, and meet only where all that have
// not ended come. It may run for long, though not for ever.
Nest generate(uint64_t seed);

}  // namespace sluice::nests
