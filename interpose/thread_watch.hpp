// Races between threads of a block, where `sluice check` looks for them.
#pragma once

#include "interpose/driver/driver_calls.hpp"
#include "runtime/runtime.hpp"

namespace sluice::interpose {

// watch_threads() adds what the device tells to the report that the checks name; a line in the log
// says where it can't.
void watch_threads(const DriverCalls& calls, const runtime::Config& config);

}  // namespace sluice::interpose
