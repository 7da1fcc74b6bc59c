// A kernel in access form, specialised for one launch shape. Internal to the analysis.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "analysis/kernel/access_form.hpp"
#include "analysis/polly/touch_places.hpp"
#include "analysis/rewrite/passes.hpp"
#include "analysis/shape_family.hpp"

namespace sluice::analysis {

// Specialised is a function of its own: block and thread indices are its first six arguments
// (with `range` attributes; unused where the extent is 1), then one `ptr noalias` for each pointer
// slot, then the symbolic numbers of the shape family, with ranges too. Each place is a store of
// one byte, whether it is read or written, so that Polly keeps it.
struct Specialised {
  llvm::Function* function = nullptr;
  std::array<llvm::Argument*, 3> block{};
  std::array<llvm::Argument*, 3> thread{};
  std::vector<llvm::Argument*> symbols;  // one for each of the family's, in its order
  std::vector<std::vector<TouchesOfPlace>> places;
  std::vector<uint32_t> any_byte;  // touches that are left and may mean any byte of their slot

  // place_of() is what the store `instruction` stands for, or null.
  const std::vector<TouchesOfPlace>* place_of(const llvm::Instruction& instruction) const;
  // offset_of() is the i64 byte offset of a place's store, from the slot of each of its touches.
  static llvm::Value* offset_of(const llvm::StoreInst& store);
};

// specialise() clones the kernel into its own module, with all numbers of the shape that are not
// symbolic as constants, and simplifies the clone; erase its function when done. The family's
// shape has one value for each shape scalar; symbolic scalars are integers.
Specialised specialise(AccessForm& form, const ShapeFamily& family, Passes& passes);

}  // namespace sluice::analysis
