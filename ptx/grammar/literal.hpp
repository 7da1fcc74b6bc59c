// The value of one number token.
#pragma once

#include "ptx/grammar/constant_expression.hpp"

namespace sluice::ptx::grammar {

// parse_literal() takes the next token, which must be a number.
Constant parse_literal(TokenStream& stream);

}  // namespace sluice::ptx::grammar
