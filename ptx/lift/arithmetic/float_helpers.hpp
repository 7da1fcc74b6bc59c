// What the floating point families share: modes, and packed types taken apart into lanes.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {

// FloatMode is what an instruction's modifiers say about its arithmetic.
struct FloatMode {
  ScalarType type = ScalarType::f32;
  bool flush = false;         // .ftz
  bool saturate = false;      // .sat
  bool relu = false;          // .relu: below zero and NaN are clamped
  std::string_view rounding;  // rz, rm or rp; empty for nearest even
};

// take_float_mode() takes .ftz, .sat, .relu and the rounding mode. The type has been taken already.
FloatMode take_float_mode(InstructionLifter& lifter, ScalarType type);

// is_directed_double() says whether directed_double() (directed_rounding.hpp) is what is asked for.
inline bool is_directed_double(const FloatMode& mode) {
  return !mode.rounding.empty() && mode.type == ScalarType::f64;
}

// take_nearest_mode() is the same for operations and types that are lifted in rounding to nearest
// alone, take_arithmetic_mode() for what rounds in other directions on .f32 and .f64.
FloatMode take_nearest_mode(InstructionLifter& lifter, ScalarType type);
FloatMode take_arithmetic_mode(InstructionLifter& lifter, ScalarType type);

// Lanes are the values of an operand as they are computed with: one for a scalar, two for a packed
// type, low half first. f16 is computed as half, bf16 as float.
using Lanes = std::vector<llvm::Value*>;

// lane_type() is the type of one lane: f16 for f16x2, bf16 for bf16x2, else the type itself.
ScalarType lane_type(ScalarType type);

// read_lanes() reads a source and flushes it where the mode says so.
Lanes read_lanes(InstructionLifter& lifter, size_t index, const FloatMode& mode);

// write_lanes() flushes and clamps as the mode says, rounds bf16, packs and writes.
void write_lanes(InstructionLifter& lifter, size_t index, Lanes values, const FloatMode& mode);

// lift_lanes() applies a function to each lane of `sources` operands (1 to 3).
void lift_lanes(InstructionLifter& lifter, const FloatMode& mode, size_t sources,
                const std::function<llvm::Value*(const Lanes&)>& function);

// split() and join() convert between a value as registers hold it and its lanes.
Lanes split(InstructionLifter& lifter, llvm::Value* value, ScalarType type);
llvm::Value* join(InstructionLifter& lifter, const Lanes& lanes, ScalarType type);

// saturate() clamps to [0, 1] and turns NaN into +0; relu() turns what is below zero into +0.
llvm::Value* saturate(InstructionLifter& lifter, llvm::Value* value);
llvm::Value* relu(InstructionLifter& lifter, llvm::Value* value);

// is_nan() is the unordered comparison of a value with itself.
llvm::Value* is_nan(InstructionLifter& lifter, llvm::Value* value);

// widen_bf16() is the float of a bf16's 16 bits, narrow_bf16() rounds back, to nearest even or
// towards zero; NaN becomes PTX's canonical one.
llvm::Value* widen_bf16(InstructionLifter& lifter, llvm::Value* bits);
llvm::Value* narrow_bf16(InstructionLifter& lifter, llvm::Value* value, bool to_zero);

}  // namespace sluice::ptx::lift_detail
