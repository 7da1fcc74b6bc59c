// A program's code on its way to the driver: what to take of it, and what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "hostcuda/driver/device/cuda_api.hpp"
#include "ptx/fat_binary.hpp"

namespace sluice::hostcuda {

// report() logs an error, copies its line to `message` and gives CUDA's number for it;
// `invalid_input_as` is that for code which is not as it should be.
CUresult report(const Error& error, CUresult invalid_input_as, std::string* message);

// best_ptx() is the PTX to take of each unit of an image; CUDA_ERROR_NO_BINARY_FOR_GPU where one
// has none.
CUresult best_ptx(const ptx::CodeImage& image, std::vector<std::string>* units,
                  std::string* message);

}  // namespace sluice::hostcuda
