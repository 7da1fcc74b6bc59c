// Kernels whose block code was handed out by the private table: somebody else runs their blocks, so
// that no launch of the driver's looks at whether a thread ended before its time.
#pragma once

#include <memory>

#include "hostcuda/driver/code/code.hpp"
#include "hostcuda/driver/device/cuda_api.hpp"

namespace sluice::hostcuda {

// note_borrowed() remembers a kernel whose block code was handed out. Thread-safe.
void note_borrowed(const std::shared_ptr<Kernel>& kernel);

// take_borrowed_fault() is the error of a thread that trapped or failed an assertion in borrowed
// code since the last call, told in the log; CUDA_SUCCESS where none did. Who runs borrowed blocks
// does so inside a function in a stream's order, at whose end it is asked. Thread-safe.
CUresult take_borrowed_fault();

// fault_error() logs what ended a thread of the kernel and returns its error.
CUresult fault_error(const Kernel& kernel, DeviceFault fault);

}  // namespace sluice::hostcuda
