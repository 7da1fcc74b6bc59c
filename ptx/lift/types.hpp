// PTX types as LLVM types.
#pragma once

#include <cstdint>

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>

#include "ptx/syntax.hpp"

namespace sluice::ptx::lift_detail {

// NVVM's address spaces.
namespace address_space {
constexpr unsigned generic = 0;
constexpr unsigned global = 1;
constexpr unsigned shared = 3;
constexpr unsigned constant = 4;
constexpr unsigned local = 5;
}  // namespace address_space

// bit_width() is the width of one value: 1 for pred, 8 to 128 else, 0 for types without values.
unsigned bit_width(ScalarType type);

bool is_signed(ScalarType type);
bool is_float(ScalarType type);    // f16, bf16, f32, f64
bool is_integer(ScalarType type);  // b*, u*, s* of 8 bits and more

// value_type() is the LLVM type in which a value of `type` is computed: f32 and f64 as themselves,
// f16 as half, pred as i1, all else (packed types and bf16 too, whose arithmetic the lifter writes
// out) an integer of that width. Null for types without values.
llvm::Type* value_type(llvm::LLVMContext& context, ScalarType type);

// register_type() is the LLVM type in which a register of `type` is kept: float and double where
// it was declared so, i1 for pred, an integer of its width else. Null where there is none.
llvm::Type* register_type(llvm::LLVMContext& context, ScalarType type);

// to_bits() is a value as an integer of the same width, from_bits() the way back.
llvm::Value* to_bits(llvm::IRBuilder<>& ir, llvm::Value* value);
llvm::Value* from_bits(llvm::IRBuilder<>& ir, llvm::Value* bits, llvm::Type* type);

}  // namespace sluice::ptx::lift_detail
