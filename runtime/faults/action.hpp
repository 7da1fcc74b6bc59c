// A launch or a copy as a report tells of it.
#pragma once

#include <cstdint>
#include <string>

#include "base/dim3.hpp"
#include "runtime/calls/call_site.hpp"
#include "runtime/launch/understood.hpp"

namespace sluice::runtime {

struct Action {
  std::string name;     // the kernel as the driver knows it, or the driver's function
  uint64_t number = 0;  // of the launch; 0 for a copy
  Dim3 grid, block;
  std::string arguments;  // "0: buffer 1, 1: buffer 2 + 256"
  CallSite site;
};

// action_of() needs Known::kernel.pointers.
Action action_of(const Known& launch);

// argument_number() is a pointer's place among the kernel's parameters; -1: a variable's.
int64_t argument_number(const analysis::KernelSignature& signature,
                        const analysis::ParameterSlot& pointer);

// action_text() is "add #1 (grid 4x1x1, block 64x1x1) with 0: buffer 1"; `where` comes behind it,
// then the place that called.
std::string action_text(const Action& action, const std::string& where);

}  // namespace sluice::runtime
