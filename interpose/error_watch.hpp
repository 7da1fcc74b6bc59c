// Failed calls whose errors nobody asks for, where `sluice check` looks for them.
#pragma once

#include "interpose/driver/driver_calls.hpp"
#include "runtime/runtime.hpp"

namespace sluice::interpose {

// watch_errors() has the device keep failed calls; another device keeps none.
// tell_ignored_errors(), when the program ends, adds what nobody has asked for to the report that
// the checks name.
void watch_errors(const DriverCalls& calls, const runtime::Config& config);
void tell_ignored_errors(const DriverCalls& calls);

}  // namespace sluice::interpose
