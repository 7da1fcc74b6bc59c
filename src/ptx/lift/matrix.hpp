// Matrices that a warp holds together.
#pragma once

#include <vector>

#include "ptx/lift/instruction_lifter.hpp"
#include "ptx/matrix_call.hpp"

namespace sluice::ptx::lift_detail {

void lift_mma(InstructionLifter& lifter);
void lift_ldmatrix(InstructionLifter& lifter);
void lift_stmatrix(InstructionLifter& lifter);
void lift_movmatrix(InstructionLifter& lifter);
void lift_wmma(InstructionLifter& lifter);

// MatrixShape is .mMnNkK.
struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
  bool operator==(const MatrixShape&) const = default;
};
MatrixShape take_shape(InstructionLifter& lifter);

// take_element() takes the next modifier that is a matrix's type and refuses a missing one.
matrix_call::Element take_element(InstructionLifter& lifter);

// take_sync_aligned() takes the modifiers that every operation of a warp on matrices has.
void take_sync_aligned(InstructionLifter& lifter);

// slot_type() is the LLVM type of the operation's slots.
llvm::Type* slot_type(InstructionLifter& lifter, const matrix_call::Operation& operation);

// read_slots() adds the registers of a vector operand to `slots`, `count` of them; write_slots()
// assigns to all registers of one, from the first value again after the last.
void read_slots(InstructionLifter& lifter, size_t operand, unsigned count,
                const matrix_call::Operation& operation, std::vector<llvm::Value*>& slots);
void write_slots(InstructionLifter& lifter, size_t operand, const matrix_call::Operation& operation,
                 llvm::ArrayRef<llvm::Value*> slots);

// call_matrix() calls the operation and gives its result slots.
std::vector<llvm::Value*> call_matrix(InstructionLifter& lifter,
                                      const matrix_call::Operation& operation,
                                      llvm::ArrayRef<llvm::Value*> slots);

// lane() is the thread's number in its warp, an i32. It is computed from the thread indices, so
// that an analysis sees which bytes it leads to.
llvm::Value* lane(InstructionLifter& lifter);

}  // namespace sluice::ptx::lift_detail
