// A launch's kernel as those see it who watch its threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dim3.hpp"
#include "hostcuda/driver/code/code.hpp"
#include "hostcuda/driver/memory/call_site.hpp"
#include "ptx/text/source_lines.hpp"

namespace sluice::hostcuda {

// WatchedKernel is good while the launch runs.
struct WatchedKernel {
  const Kernel& kernel;
  Dim3 block;
  const CallSite& site;  // of the launch
  uint64_t call = 0;     // its number among the program's calls
};

// ModuleVariableAt is a variable of the kernel's module.
struct ModuleVariableAt {
  std::string name;
  uintptr_t begin = 0;
  size_t bytes = 0;
};
std::vector<ModuleVariableAt> variables_of(const WatchedKernel& kernel);

// lines_of() is empty where nvcc wrote none.
ptx::SourceLines lines_of(const WatchedKernel& kernel);

// place_in_box() gives a linear number, x fastest, its three.
void place_in_box(uint32_t (&to)[3], uint32_t number, const uint32_t (&extents)[3]);

}  // namespace sluice::hostcuda
