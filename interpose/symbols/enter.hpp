// The jump table and the names of its slots.
#pragma once

#include <cstddef>
#include <string_view>

#include "interpose/front/engine.hpp"

namespace sluice::interpose {

// base_name() is a driver symbol without its version and per-thread-stream suffixes:
// "cuMemcpyHtoDAsync" of "cuMemcpyHtoDAsync_v2_ptsz".
std::string_view base_name(std::string_view symbol);

// The functions in the order of the slots.
size_t driver_function_count();
const char* driver_function_name(size_t index);

// spare_export() is what a program calls for a function of the driver that no slot has: a call
// closes the windows and goes on to `function`. Null where no slot is left. Thread-safe.
void* spare_export(const char* name, void* function);

// front() is the jump table, in libsluice.so. The engine is entered by it, so it is known.
const Front& front();

}  // namespace sluice::interpose
