// Declarations of variables: registers, parameters, module and function variables.
// Source: PTX ISA, "State Spaces, Types, and Variables".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ptx/grammar/operand.hpp"
#include "ptx/grammar/token_stream.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::grammar {

// state_space() is the space that a dotted token names, or nothing.
std::optional<StateSpace> state_space(const Token& token);

// parse_variables() reads one declaration with its semicolon, `.reg .b32 %r<5>, a;`, after its
// linkage; it makes one Variable a name and notes element sizes in `sizes`.
std::vector<Variable> parse_variables(TokenStream& stream, std::string_view linkage,
                                      ElementSizes& sizes);

// parse_parameters() reads `(.param .u64 a, .param .u32 b)`, or nothing where no bracket stands.
std::vector<Variable> parse_parameters(TokenStream& stream, ElementSizes& sizes);

// parse_attribute() reads `.attribute(.managed, .unified(1, 2))` as {"managed", "unified(1, 2)"}.
std::vector<std::string> parse_attribute(TokenStream& stream);

}  // namespace sluice::ptx::grammar
