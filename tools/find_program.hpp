// Where programs and the parts of Sluice lie.
#pragma once

#include <string>

#include "base/result.hpp"

namespace sluice::tools {

// find_program() is execvp's search, so that a program that is missing is known before anything
// is changed.
Result<std::string> find_program(const std::string& name);

// library_folder() holds libsluice.so, sluice-tools and cpu/. It lies beside the launcher: as
// installed, or as in a build tree and in a Python wheel.
std::string library_folder();

// cpu_folder() is that folder's cpu/, which holds the CPU device's driver and runtimes.
std::string cpu_folder();

}  // namespace sluice::tools
