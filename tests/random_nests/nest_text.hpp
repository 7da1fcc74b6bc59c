// A nest as the text of a PTX module.
#pragma once

#include <string>

#include "nest_tree.hpp"

namespace sluice::nests {

inline constexpr const char* kernel_name = "random_nest";

// The parameters: an address for each Buffer in their order, then the scalars.
std::string ptx_of(const Nest& nest);

}  // namespace sluice::nests
