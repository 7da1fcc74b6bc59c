// Accesses of kernels to memory that they must not access, where `sluice check` looks at every
// access.
#pragma once

#include "interpose/driver/driver_calls.hpp"
#include "runtime/runtime.hpp"

namespace sluice::interpose {

// watch_memory() adds what the device tells to the report that the checks name; a line in the log
// says where it can't. Call it once, before anything is allocated.
void watch_memory(const DriverCalls& calls, const runtime::Config& config);

// tell_leaks() has the device tell of what was not freed.
void tell_leaks(const DriverCalls& calls);

}  // namespace sluice::interpose
