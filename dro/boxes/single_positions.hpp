// Blocks that touch one row or plane each.
#pragma once

#include <cstddef>
#include <vector>

#include "dro/boxes/box_separation.hpp"

namespace sluice::dro {

// name_single_positions() changes variables where a block's coordinate itself, and not an
// existential variable, says which row or plane the byte lies in: one that equals the coordinate
// takes its place beside the byte, which is the form that separate() takes apart. It returns how
// many it added behind the first `variables`; where that is 0, nothing has changed.
size_t name_single_positions(std::vector<IntegerForm>& forms, size_t variables);

}  // namespace sluice::dro
