// What a function or variable names of its module.
#pragma once

#include <functional>
#include <string>

#include "ptx/syntax.hpp"

namespace sluice::ptx {

// visit_references() calls visit() with each name in an item that may stand for a function or
// variable of the module: in operands, initialisers, call targets and aliases. Names that a
// parameter, a label or a declaration of the function hides are left out, and so is the item's own
// name. visit() may change the name. It also gets names that the module lacks: special registers
// and numbered registers.
void visit_references(ModuleItem& item, const std::function<void(std::string& name)>& visit);

}  // namespace sluice::ptx
