// What PTX allows inside functions, in the one form that all who read the syntax tree know.
#pragma once

#include "ptx/syntax.hpp"

namespace sluice::ptx::grammar {

// make_plain() gives registers of vector types (`.reg .v4 .f32 v`) a register for each element
// (`v$x`), so that `v.x` is one and `v` is a vector of them; and it makes variables of the module
// that are declared in a function (`.global`, `.const`) the module's, named after both.
void make_plain(Module& module);

}  // namespace sluice::ptx::grammar
