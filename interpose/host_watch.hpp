// Asks the device for the host's accesses that race with it.
#pragma once

#include "interpose/driver/driver_calls.hpp"
#include "runtime/runtime.hpp"

namespace sluice::interpose {

// watch_host() adds what the device tells to the report that the checks name; a line in the log
// where it cannot tell. Call it once, before any work is submitted.
void watch_host(const DriverCalls& calls, const runtime::Config& config);

}  // namespace sluice::interpose
