// Matrices that a warp holds together.
#pragma once

#include <vector>

#include "ptx/lift/instruction_lifter.hpp"
#include "ptx/matrix_call.hpp"

namespace sluice::ptx::lift_detail {

// MatrixShape is .mMnNkK.
struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
  bool operator==(const MatrixShape&) const = default;
};
MatrixShape take_shape(InstructionLifter& lifter);

// is_among() says whether a shape is one of a few.
bool is_among(const MatrixShape& shape, std::initializer_list<MatrixShape> shapes);

// set_shape() notes the shape in an operation.
void set_shape(matrix_call::Operation& operation, const MatrixShape& shape);

// take_element() takes the next modifier that is a matrix's type and refuses a missing one.
matrix_call::Element take_element(InstructionLifter& lifter);

// take_sync_aligned() takes the modifiers that every operation of a warp on matrices has.
void take_sync_aligned(InstructionLifter& lifter);

// wait_for_warp() begins what accesses memory with all lanes there.
void wait_for_warp(InstructionLifter& lifter);

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

// multiply() is D = A * B + C of the operands 0 to 3.
void multiply(InstructionLifter& lifter, const matrix_call::Operation& operation);

}  // namespace sluice::ptx::lift_detail
