// A launch as the checks of launches see it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/value_flow.hpp"
#include "runtime/faults/action.hpp"
#include "runtime/faults/fault.hpp"
#include "runtime/faults/footprint_bytes.hpp"
#include "runtime/launch/understood.hpp"

namespace sluice::runtime {

// LaunchView is good while the launch is handled.
struct LaunchView {
  const Known& launch;
  FootprintBytes& bytes;
  // What becomes of the values in such a launch; null where nobody knows. Asked for only where
  // something looks wrong: it takes milliseconds.
  std::function<const analysis::ValueFlow*()> flow;

  // scalars() is the launch's parameters without its pointers.
  std::vector<std::byte> scalars() const;

  const dro::BoundArgument& bound(size_t slot) const { return launch.bound->arguments[slot]; }
  const analysis::ParameterSlot& slot(size_t number) const;
  uint64_t buffer_bytes(size_t slot) const {
    const BoundPointer& pointer = launch.kernel.pointers[slot];
    return pointer.end - pointer.begin;
  }
  // place_of() is where the program's memory lies that `offset` of a slot means.
  int64_t in_buffer(size_t slot, int64_t offset) const {
    return offset + static_cast<int64_t>(bound(slot).offset);
  }
  // The values that pass through a slot; null where nobody knows.
  const analysis::SlotValues* values(size_t slot) const;

  std::string kernel() const;
  // "argument 0", "variable counts".
  std::string slot_text(size_t slot) const;
  // "block (2, 1)" of a grid of two dimensions.
  std::string block_text(const BlockIndex& block) const;
  // fault() is one of this launch, with who launched it and its place.
  Fault fault(const char* kind, const char* rule, std::string message) const;
};

// code_text() is " at add.cu:4", of several lines " at add.cu:4 or add.cu:9"; empty where there
// are none. place() gives a fault the first of them.
std::string code_text(const std::vector<analysis::CodePlace>& places);
void place(Fault& fault, const std::vector<analysis::CodePlace>& places);

}  // namespace sluice::runtime
