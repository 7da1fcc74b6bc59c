// Finding the driver by opening libraries, in the process that will use it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "interpose/driver/driver_search.hpp"

namespace sluice::interpose {

// find_driver() is choose_driver() of those that can be opened. They are left open and never
// initialised: a program that forks before its own cuInit may use CUDA in the child.
Result<FoundDriver> find_driver(DeviceChoice choice, const std::string& library_folder);

// open_driver() opens a driver by its path with the C library's dlopen, not with the shim's own.
// Returns its handle, or nullptr with the reason in dlerror().
void* open_driver(const std::string& path);

}  // namespace sluice::interpose
