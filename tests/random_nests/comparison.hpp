// A nest's answers by the CPU device's compiler beside those of the interpreter.
#pragma once

#include <cstdint>
#include <string>

#include "nest_tree.hpp"

namespace sluice::nests {

// Verdict: `fits` is false for a nest that takes too many steps to be of use, `races` true for one
// whose answers depend on which thread is first. `difference` is the first, or what went wrong;
// empty where all is equal.
struct Verdict {
  bool fits = true;
  bool races = false;
  std::string difference;
};

// compare() runs a nest both ways and compares all its buffers, bit by bit. Where they differ it
// looks for races too.
Verdict compare(const Nest& nest);

// races() is whether the interpreter has other answers with the last thread first.
bool races(const Nest& nest);

// description() is what a person needs to run a nest again: its launch and text.
std::string description(const Nest& nest);

}  // namespace sluice::nests
