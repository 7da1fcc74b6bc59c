// Whether a program looks at what a call returned, by its machine code behind the call.
#pragma once

#include <span>

namespace sluice::hostcuda {

// is_result_dropped() is true where no way from a call on reads the int that it returned: its
// register is written, or another function called, before. `returns` are return addresses, that of
// the call first, then those of who called. Where code cannot be followed, on another processor
// than x86-64 above all, it is false. Thread-safe.
bool is_result_dropped(std::span<void* const> returns);

}  // namespace sluice::hostcuda
