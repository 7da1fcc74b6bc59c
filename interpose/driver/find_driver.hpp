// Finding the driver by opening libraries, in the process that will use it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "interpose/driver/driver_search.hpp"

namespace sluice::interpose {

// find_driver() decides for a choice. `library_folder` holds libsluice.so and cpu/libcuda.so.1.
// `automatic` takes a GPU driver where shows_gpu(), else the CPU device; `gpu` takes the first that
// there is. Drivers are opened (and left open) and never initialised: a program that forks before
// its own cuInit may use CUDA in the child. An error names what was looked for.
Result<FoundDriver> find_driver(DeviceChoice choice, const std::string& library_folder);

// open_driver() opens a driver by its path with the C library's dlopen, not with the shim's own.
// Returns its handle, or nullptr with the reason in dlerror().
void* open_driver(const std::string& path);

}  // namespace sluice::interpose
