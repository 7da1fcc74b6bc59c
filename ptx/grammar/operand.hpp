// Operands of instructions. Source: PTX ISA, "Instruction Operands".
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "ptx/grammar/token_stream.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::grammar {

// ElementSizes holds the element size in bytes of each variable declared so far, by which an
// index `array[3]` becomes a byte offset. The keys point into the source text.
using ElementSizes = std::unordered_map<std::string_view, uint64_t>;

// OperandContext says how the operands of one instruction are read.
struct OperandContext {
  bool is_call = false;          // `(a, b)` is a list of arguments, not a constant in brackets
  bool accesses_memory = false;  // `array[3]` is the element itself: an address, not an offset
  const ElementSizes* sizes = nullptr;
};

// parse_operand() reads one operand.
Operand parse_operand(TokenStream& stream, const OperandContext& context);

// parse_byte_offset() reads what follows the name in `name+4` and `name-4`: 0 where nothing does.
int64_t parse_byte_offset(TokenStream& stream);

}  // namespace sluice::ptx::grammar
