// Rounding towards zero, down and up, out of arithmetic that rounds to nearest.
// LLVM's plain floating point only rounds to nearest even. The nearest value is at most one step
// from the directed one, so it suffices to know on which side of it the exact result lies.
// Source of the error terms: Knuth's TwoSum and Dekker; residuals of division and square root are
// exact in twice the precision.
#pragma once

#include <string_view>
#include <vector>

#include "ptx/lift.hpp"
#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {

// ExactSum is a value as the unevaluated sum of two doubles, the first being their rounded sum.
struct ExactSum {
  llvm::Value* sum = nullptr;
  llvm::Value* error = nullptr;  // null for zero
};

// two_sum() adds two doubles exactly. The error is NaN where the sum overflows.
ExactSum two_sum(InstructionLifter& lifter, llvm::Value* left, llvm::Value* right);

// exact_integer() is a 64-bit integer as a sum.
ExactSum exact_integer(InstructionLifter& lifter, llvm::Value* value, bool with_sign);

// step() moves the nearest value to its neighbour where `rounding` wants it: rz, rm, rp, or "odd",
// which makes the last bit odd wherever the result is not exact, so that a second rounding to a
// narrower type gives what a single one would.
// `above` and `below` say whether the exact result lies above or below `nearest`.
llvm::Value* step(InstructionLifter& lifter, llvm::Value* nearest, llvm::Value* above,
                  llvm::Value* below, std::string_view rounding);

// narrow() rounds a sum to float, half or double.
llvm::Value* narrow(InstructionLifter& lifter, const ExactSum& exact, llvm::Type* type,
                    std::string_view rounding);

// narrow_to_half() rounds a double to half, to nearest even and only once, through a float rounded
// to odd: CPUs convert only float to half.
llvm::Value* narrow_to_half(InstructionLifter& lifter, llvm::Value* value);

// The operations in a directed rounding on .f32; directed_add() takes .f64 too. Of floats add, mul
// and fma are calls of functions of the module, named by directed_float_name()
// (ptx/lift.hpp): whoever runs the code inlines them, or has instructions that do the same.
llvm::Value* directed_add(InstructionLifter& lifter, llvm::Value* left, llvm::Value* right,
                          std::string_view rounding);
llvm::Value* directed_mul(InstructionLifter& lifter, llvm::Value* left, llvm::Value* right,
                          std::string_view rounding);
llvm::Value* directed_fma(InstructionLifter& lifter, llvm::Value* a, llvm::Value* b, llvm::Value* c,
                          std::string_view rounding);
llvm::Value* directed_div(InstructionLifter& lifter, llvm::Value* left, llvm::Value* right,
                          std::string_view rounding);
llvm::Value* directed_sqrt(InstructionLifter& lifter, llvm::Value* value,
                           std::string_view rounding);

// directed_double() is any of the instruction's operations on .f64 as NVVM's own intrinsic: twice
// the precision of a double is not at hand, so who runs the code must know the rounding mode.
llvm::Value* directed_double(InstructionLifter& lifter, const std::vector<llvm::Value*>& operands,
                             std::string_view rounding);

}  // namespace sluice::ptx::lift_detail
