// Copies and fills of memory in the order of a stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/driver.hpp"
#include "hostcuda/driver/memory/copy_box.hpp"
#include "hostcuda/driver/stream/operation.hpp"

namespace sluice::hostcuda {

// linear_copy() is a copy of `bytes` neighbouring bytes; linear_copy_parameters() the same as a
// program would describe it in a CUDA_MEMCPY3D.
Copy linear_copy(uintptr_t destination, Side destination_side, uintptr_t source, Side source_side,
                 size_t bytes);
CUDA_MEMCPY3D linear_copy_parameters(const Copy& copy);

// describe_copy() turns what a program asks for into a copy. CUDA_ERROR_INVALID_VALUE where rows
// are longer than their pitch.
CUresult describe_copy(const CUDA_MEMCPY3D& parameters, Copy* copy);

// check_copy() returns CUDA_ERROR_INVALID_VALUE where a box does not fit its allocation.
CUresult check_copy(const Driver& driver, const Copy& copy);

// The two ways of a copy; `parameters` say what the program asked for. Errors as check_copy().
// copy_now() waits for what the stream orders before it and returns when the copy is done.
// copy_in_stream() returns at once where both sides are known to the device; a copy from or to
// pageable memory of the program has, as in CUDA, been read (or written) when it returns.
CUresult copy_now(Driver& driver, const StreamRef& stream, const Copy& copy);
CUresult copy_in_stream(Driver& driver, const StreamRef& stream, const Copy& copy,
                        const CUDA_MEMCPY3D& parameters);

// copy_as_called() is the way of a copy that has no stream: copy_in_stream() within memory that is
// the device's alone, where no host waits for one (CUDA's API synchronization behavior), else
// copy_now(). Errors as check_copy().
CUresult copy_as_called(Driver& driver, const StreamRef& stream, const Copy& copy,
                        const CUDA_MEMCPY3D& parameters);

// is_of_device() is whether an address lies in memory that is the device's alone.
bool is_of_device(const Driver& driver, uintptr_t address);

// check_fill() returns CUDA_ERROR_INVALID_VALUE where the box does not fit its allocation or is not
// aligned to its elements.
CUresult check_fill(const Driver& driver, const Fill& fill);

// fill_in_stream() submits the fill. Errors as check_fill().
CUresult fill_in_stream(Driver& driver, const StreamRef& stream, const Fill& fill);

}  // namespace sluice::hostcuda
