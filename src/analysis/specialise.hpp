// A kernel in access form, specialised for one launch shape. Internal to the analysis.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "analysis/access_form.hpp"
#include "analysis/passes.hpp"

namespace sluice::analysis {

// Specialised is a function of its own: block and thread indices are its first six arguments
// (with `range` attributes; unused where the extent is 1), then one `ptr noalias` for each pointer
// slot. Each touch is a store of one byte, whether it reads or writes, so that Polly keeps it.
struct Specialised {
  llvm::Function* function = nullptr;
  std::array<llvm::Argument*, 3> block{};
  std::array<llvm::Argument*, 3> thread{};
  std::vector<uint32_t> any_byte;  // touches that are left and may mean any byte of their slot

  // touch_of() is the number of the touch that `instruction` stands for.
  static std::optional<uint32_t> touch_of(const llvm::Instruction& instruction);
  // offset_of() is the i64 byte offset of a touch's store.
  static llvm::Value* offset_of(const llvm::StoreInst& store);
};

// specialise() clones the kernel into its own module with the shape's values as constants and
// simplifies the clone; erase its function when done. `shape` has one value for each shape scalar.
Specialised specialise(AccessForm& form, const LaunchShape& shape, Passes& passes);

}  // namespace sluice::analysis
