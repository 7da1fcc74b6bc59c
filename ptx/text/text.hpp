// The pieces of which the printer puts PTX text together.
#pragma once

#include <string>
#include <vector>

#include "ptx/syntax.hpp"

namespace sluice::ptx::text {

// Each append() adds one construct to `out`, in the form that ptxas accepts.
void append(std::string& out, const Operand& operand);
void append(std::string& out, const Instruction& instruction);  // with its semicolon
void append(std::string& out, const Variable& variable);        // without its semicolon
void append(std::string& out, const Directive& directive);      // with its semicolon, if it has one

// append_attribute() adds `.attribute(.managed) `, with a blank after it.
void append_attribute(std::string& out, const std::vector<std::string>& attributes);

// indentation() adds the blanks of nesting depth `depth`.
void indentation(std::string& out, int depth);

}  // namespace sluice::ptx::text
