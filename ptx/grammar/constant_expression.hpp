// Constant expressions: literals, casts and operators on them.
// Source: PTX ISA, "Constants" and "Constant Expressions".
#pragma once

#include <variant>

#include "ptx/grammar/token_stream.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::grammar {

using Constant = std::variant<IntegerLiteral, FloatLiteral>;

// begins_constant() says whether the next token can begin a constant expression.
bool begins_constant(const TokenStream& stream);

// parse_constant() reads one constant expression and returns its value. Integers are computed in
// 64 bits, signed unless an operand is unsigned; floats in double precision. WARP_SZ is 32.
Constant parse_constant(TokenStream& stream);

// parse_integer() is parse_constant() for places where a float is an error; parse_count() also
// refuses values that are negative or above `limit`.
IntegerLiteral parse_integer(TokenStream& stream);
uint64_t parse_count(TokenStream& stream, uint64_t limit);

}  // namespace sluice::ptx::grammar
