// Who called, for reports that name a place in the program.
#pragma once

#include <cstddef>
#include <span>

namespace sluice {

// return_addresses() writes those of the calling thread into `found`, the innermost first, and says
// how many there are; of a deeper stack than the span the rest is left out. Thread-safe.
//
// Unwinding takes microseconds. So the thread's last stacks are remembered: one that begins at the
// same place and holds the same return addresses at the same places is the same.
size_t return_addresses(std::span<void*> found);

}  // namespace sluice
