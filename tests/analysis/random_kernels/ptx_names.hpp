// The words of PTX for the parts of a random kernel, and of its launch for people.
#pragma once

#include <string>

#include "kernel_tree.hpp"

namespace sluice::analysis::random {

// suffix() is a type as instructions carry it: "s32".
const char* suffix(Type type);
std::string special_name(uint32_t index);

bool is_comparison(Op op);
// comparison() is the test of a setp: "lt".
const char* comparison(Op op);

// opcode() is the instruction of an expression of one or two operands, with its type.
std::string opcode(const Expression& e);

// parameter_list() declares the parameters, one a line.
std::string parameter_list(const Kernel& kernel);

// launch_text() is the grid, the block and the values of the scalars, for people.
std::string launch_text(const Kernel& kernel);

}  // namespace sluice::analysis::random
