// Functions that run in a stream's order.
#pragma once

#include <memory>

#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/graph/capture.hpp"

namespace sluice::hostcuda {

// submit_function() puts function(data) into the stream as an `Operation` of (context, function,
// data). CUDA_ERROR_INVALID_VALUE without a function; the device's error where it has one.
template <class Operation>
CUresult submit_function(CUstream handle, CUhostFn function, void* data) noexcept {
  return with_stream(
      handle, [&](Driver& driver, Context& context, const StreamRef& stream) -> CUresult {
        if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (const CUresult error = driver.engine.error(); error != CUDA_SUCCESS) return error;
        return submit(driver, stream, std::make_shared<const Operation>(context, function, data));
      });
}

}  // namespace sluice::hostcuda
