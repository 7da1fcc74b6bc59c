// Making a nest small that shows a difference.
#pragma once

#include <functional>

#include "nest_tree.hpp"

namespace sluice::nests {

// smallest() leaves out statements as long as `still_shows` holds, one after the other until none
// can go. Barriers and exchanges go whole, so threads still meet.
Nest smallest(Nest nest, const std::function<bool(const Nest&)>& still_shows);

}  // namespace sluice::nests
