// Which device and which context the calling thread works in.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace sluice::cudart {

// initialise_driver() starts the driver at the first call. Thread-safe; later calls return the
// first one's answer. cudaErrorInsufficientDriver where the driver is older than CUDA 13.
cudaError_t initialise_driver();

// bind_context() sees to it that the thread has a current context. One that the program made
// current with the driver API is kept; else it is the primary context of the thread's device,
// retained at its first use and never released.
cudaError_t bind_context();

// set_device() makes the primary context of `ordinal` the thread's current context.
cudaError_t set_device(int ordinal);

// current_device() gives the device of the current context, or the thread's device where none is
// current. The driver is initialised, no context is made.
cudaError_t current_device(int* ordinal);

// check_device() returns cudaErrorInvalidDevice where `ordinal` names no device.
cudaError_t check_device(int ordinal);

// reset_device() destroys the state of the current device's primary context.
cudaError_t reset_device();

}  // namespace sluice::cudart
