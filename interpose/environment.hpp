// What the shim asks of the process that it is in.
#pragma once

#include <string>

namespace sluice::interpose {

// environment() is the value of a variable; empty where it is unset.
std::string environment(const char* name);

// is_set() is true of a switch that is anything but empty or 0.
bool is_set(const char* name);

// program_path() is the running program's file; empty where the system does not say.
std::string program_path();

}  // namespace sluice::interpose
