// Names and texts of CUDA's errors.
#pragma once

#include "hostcuda/driver/device/cuda_api.hpp"

namespace sluice::hostcuda {

// error_name() is "CUDA_ERROR_INVALID_VALUE", nullptr for a number that CUDA 13.0 does not know.
const char* error_name(CUresult error);

// error_text() is what CUDA's own driver says of it ("invalid argument"), nullptr likewise. It
// lives as long as the process.
const char* error_text(CUresult error);

}  // namespace sluice::hostcuda
