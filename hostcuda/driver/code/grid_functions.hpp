// Those functions of CUDA's device runtime by which the blocks of a cooperative launch wait for
// each other: cudaCGGetIntrinsicHandle and cudaCGSynchronize, which code that numba-cuda makes
// calls by name. (C++ has them as the toolkit's header, in each kernel.)
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace sluice::hostcuda {

// is_grid_function() is whether the name is one of these.
bool is_grid_function(std::string_view name);

// with_grid_functions() gives a module that declares them without a body what they are in PTX;
// other modules are taken as they are.
Result<ptx::Module> with_grid_functions(ptx::Module module);

}  // namespace sluice::hostcuda
