// A random kernel as the text of a PTX module.
#pragma once

#include <string>

#include "kernel_tree.hpp"

namespace sluice::analysis::random {

inline constexpr const char* kernel_name = "random_kernel";

// ptx_of() writes the module. Where PTX has several ways to say a thing (a fused multiply-add, a
// guard or a branch, a shift for a product), one is chosen by the kernel's seed.
std::string ptx_of(const Kernel& kernel);

}  // namespace sluice::analysis::random
