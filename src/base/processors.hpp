// How many processors there are for this process.
#pragma once

#include <cstdint>

namespace sluice {

// available_processors() is how many processors this process may run on, 1 at least. Thread-safe.
uint32_t available_processors();

}  // namespace sluice
