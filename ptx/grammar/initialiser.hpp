// Initialisers of module variables. Source: PTX ISA, "Initializers".
#pragma once

#include "ptx/grammar/token_stream.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::grammar {

// parse_initialiser() reads what follows `=` into variable.initialiser. Elements that an inner
// brace leaves out are written out as zero, so that the flat list keeps every place; a leading
// dimension without a size gets the number of elements that stand there.
void parse_initialiser(TokenStream& stream, Variable& variable);

}  // namespace sluice::ptx::grammar
