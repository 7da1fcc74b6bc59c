// Parameters as slots: every place of the parameter block that the kernel reads becomes an
// argument of its own, fields of structs included. Internal to the analysis.
#pragma once

#include <set>
#include <vector>

#include <llvm/IR/Function.h>

#include "analysis/footprint.hpp"

namespace sluice::analysis {

// SlotValue is one slot and the argument that stands for it.
struct SlotValue {
  ParameterSlot slot;
  llvm::Argument* value = nullptr;
  bool known_pointer = false;
};

// KernelSlots is the kernel with one argument for each slot, the slots by offset, then the
// variables by name.
struct KernelSlots {
  llvm::Function* kernel = nullptr;
  std::vector<SlotValue> slots;
};

// separate_slots() moves the body of `kernel` into a function whose arguments are the slots that
// it reads: each scalar parameter, each (offset, type) of a by-value struct read at a constant
// offset, vectors element by element, and the address of each .global variable that it uses. What
// else is read of a struct reads private memory of unknown content. `parameters` has one entry for
// each argument, `known_pointers` offsets in the parameter block.
KernelSlots separate_slots(llvm::Function& kernel, const std::vector<ParameterSlot>& parameters,
                           const std::set<uint32_t>& known_pointers);

}  // namespace sluice::analysis
