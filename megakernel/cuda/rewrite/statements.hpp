// Lines of PTX that the rewriter adds, from their text.
#pragma once

#include <string>

#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// append() parses the statements of `text` and puts them at the end of `out`.
void append(ptx::Block& out, const std::string& text);

}  // namespace sluice::megakernel
