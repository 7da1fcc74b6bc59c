// Function bodies: statements and instructions. Source: PTX ISA, "PTX Statements".
#pragma once

#include "ptx/grammar/operand.hpp"
#include "ptx/grammar/token_stream.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::grammar {

// parse_body() reads `{ ... }` with all that is nested in it.
Block parse_body(TokenStream& stream, ElementSizes& sizes);

}  // namespace sluice::ptx::grammar
