// The driver's functions from one library: the CPU device's own, or Sluice's.
#pragma once

#include <stdexcept>
#include <string>

#include <cuda.h>

namespace sluice::random_programs {

// CallFailed is a call that did not return CUDA_SUCCESS, which no call of a random program may.
struct CallFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct DriverApi {
#define SLUICE_DRIVER_CALL(symbol) decltype(&::symbol) symbol = nullptr;
#include "random_programs/driver_api.def"
#undef SLUICE_DRIVER_CALL

  // open() opens the library; throws CallFailed where it lacks something.
  static DriverApi open(const std::string& library);
  // check() throws CallFailed for any result but CUDA_SUCCESS.
  void check(CUresult result, const char* call) const;
};

}  // namespace sluice::random_programs
