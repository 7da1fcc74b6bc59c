// What the lanes of a warp make together, as PTX.
#pragma once

#include <string>

#include "expression_text.hpp"
#include "nest_tree.hpp"

namespace sluice::nests {

// write_of_warp() is of all lanes of a warp, which the nest's mask names.
void write_of_warp(ExpressionText& out, const Nest& nest, const Statement& statement);

// write_of_some() is of those that the register `mask` names. A shuffle reads another of these.
void write_of_some(ExpressionText& out, const Statement& statement, const std::string& mask);

}  // namespace sluice::nests
