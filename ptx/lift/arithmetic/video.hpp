// The video instructions: arithmetic on bytes and halves chosen from 32-bit registers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {

// VideoOperand is a 32-bit source or a destination and what is chosen of it: "b2", "h1", "h32".
struct VideoOperand {
  Operand whole;
  std::string selector;
};
VideoOperand video_operand(InstructionLifter& lifter, size_t index);

// All of the following compute in i64, in which no sum or difference of 32-bit values wraps.

// part() is `bits` bits of a 32-bit value from bit `first` on, extended by the sign where asked.
llvm::Value* part(InstructionLifter& lifter, llvm::Value* value, unsigned first, unsigned bits,
                  bool is_signed);

// clamp() holds a value to the range of integers of `bits` bits.
llvm::Value* clamp(InstructionLifter& lifter, llvm::Value* value, unsigned bits, bool is_signed);

// video_result() is what the instruction's opcode makes of two values; `comparison` is vset's.
llvm::Value* video_result(InstructionLifter& lifter, std::optional<std::string_view> comparison,
                          llvm::Value* a, llvm::Value* b);

// take_comparison() is vset's comparison, none for other opcodes.
std::optional<std::string_view> take_comparison(InstructionLifter& lifter);

// take_video_type() takes .u32 or .s32 and says whether it is signed.
bool take_video_type(InstructionLifter& lifter);

}  // namespace sluice::ptx::lift_detail
