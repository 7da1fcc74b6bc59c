// What the floating point families share.
#pragma once

#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {

// FloatMode is what an instruction's modifiers say about its arithmetic.
struct FloatMode {
  ScalarType type = ScalarType::f32;
  bool flush = false;         // .ftz
  bool saturate = false;      // .sat
  std::string_view rounding;  // rz, rm or rp; empty for nearest even
};

// take_float_mode() takes .ftz, .sat and the rounding mode. The type has been taken already; bf16
// is refused, and so is a directed rounding (.rz, .rm, .rp) but of .f32.
FloatMode take_float_mode(InstructionLifter& lifter, ScalarType type);

// refuse_directed() is for operations and types that are lifted in rounding to nearest alone.
void refuse_directed(InstructionLifter& lifter, const FloatMode& mode);

// read_float() reads a source and flushes it where the mode says so.
llvm::Value* read_float(InstructionLifter& lifter, size_t index, const FloatMode& mode);

// write_float() flushes and saturates as the mode says, then writes.
void write_float(InstructionLifter& lifter, size_t index, llvm::Value* value,
                 const FloatMode& mode);

// flush() replaces subnormal values by zeros of their sign. It is written out, since neither
// LLVM's IR nor the CPU's control word can say it for one instruction and type alone.
llvm::Value* flush(InstructionLifter& lifter, llvm::Value* value);

// saturate() clamps to [0, 1] and turns NaN into +0.
llvm::Value* saturate(InstructionLifter& lifter, llvm::Value* value);

// is_nan() is the unordered comparison of a value with itself.
llvm::Value* is_nan(InstructionLifter& lifter, llvm::Value* value);

}  // namespace sluice::ptx::lift_detail
