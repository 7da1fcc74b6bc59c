// Syntax tree to PTX text that ptxas accepts and that parses to an equal tree.
#pragma once

#include <string>

#include "ptx/syntax.hpp"

namespace sluice::ptx {

std::string print(const Module& module);
std::string print(const Instruction& instruction);  // without newline: "@%p1 bra done;"

}  // namespace sluice::ptx
