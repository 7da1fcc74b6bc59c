// Directives that are kept as tokens. Source: PTX ISA, "Directives".
#pragma once

#include <optional>
#include <vector>

#include "ptx/grammar/token_stream.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::grammar {

// parse_directive() reads a statement of its own: .loc, .file, .section, .pragma, .alias,
// .branchtargets, .calltargets, .callprototype. Nothing where another token stands.
std::optional<Directive> parse_directive(TokenStream& stream);

// parse_function_attributes() reads what stands between a function's parameters and its body:
// `.maxntid 256, 1, 1 .minnctapersm 2 .noreturn`.
std::vector<Directive> parse_function_attributes(TokenStream& stream);

}  // namespace sluice::ptx::grammar
