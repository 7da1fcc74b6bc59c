// What the integer families share.
#pragma once

#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {

// widen() extends a value of `type` to twice its width, by its sign where the type has one.
llvm::Value* widen(InstructionLifter& lifter, llvm::Value* value, ScalarType type);

// high_half() is the upper half of a value's bits.
llvm::Value* high_half(InstructionLifter& lifter, llvm::Value* wide);

// double_width() is the type of .wide results.
ScalarType double_width(InstructionLifter& lifter, ScalarType type);

// The forms with a carry: `takes` where the flag is added (addc), `gives` where it is set (.cc).
void lift_add_sub_carry(InstructionLifter& lifter, ScalarType type, bool takes, bool gives);
void lift_mad_carry(InstructionLifter& lifter, ScalarType type, bool takes, bool gives);

}  // namespace sluice::ptx::lift_detail
