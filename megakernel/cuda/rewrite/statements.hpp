// Lines of PTX that the rewriter adds, from their text.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// append() parses the statements of `text` and puts them at the end of `out`.
void append(ptx::Block& out, const std::string& text);

// divide() and remainder() are text that divides a register of 32 bits, which holds the number of a
// thread, by a number from 1 to 1024. ptxas makes some twenty instructions of a division by a
// constant, be it 64: so these are shifts, or multiplications.
std::string divide(const std::string& value, uint64_t by);
std::string remainder(const std::string& value, uint64_t by);

}  // namespace sluice::megakernel
