// Edges between strides that show a closed form by themselves, without a look at each block.
#pragma once

#include <optional>

#include "dro/edges/edge_table.hpp"

namespace sluice::dro {

// banded_form() is edges of one row of blocks as `all` or `neighbours`; nothing where no single
// part shows all edges of an offset. Its cost grows with the parts and the offsets alone.
std::optional<EdgeForm> banded_form(const StridedEdges& edges);

}  // namespace sluice::dro
