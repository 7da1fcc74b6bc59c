// Copies and fills of memory, of one to three dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hostcuda/driver/cuda_api.hpp"
#include "hostcuda/driver/driver.hpp"

namespace sluice::hostcuda {

// Where one side of a copy lies. `unified` is an address that says for itself: memory of the
// device if the allocation table has it, else the program's own.
enum class Side { host, device, unified };

struct CopySide {
  uintptr_t address = 0;  // of the box's first byte
  size_t pitch = 0;       // bytes from row to row
  size_t slice = 0;       // bytes from plane to plane
  Side side = Side::unified;
};

// Copy is a box of bytes: width bytes a row, height rows a plane, depth planes. Rows may be longer
// than the pitch only where there is a single row.
struct Copy {
  CopySide destination;
  CopySide source;
  size_t width = 0;
  size_t height = 1;
  size_t depth = 1;
};

// linear_copy() is a copy of `bytes` neighbouring bytes.
Copy linear_copy(uintptr_t destination, Side destination_side, uintptr_t source, Side source_side,
                 size_t bytes);

// The two ways of a copy. CUDA_ERROR_INVALID_VALUE where a box does not fit its allocation.
// copy_now() waits for all work so far and returns when the copy is done. copy_in_stream() returns
// at once where both sides are known to the device; a copy from or to pageable memory of the
// program has, as in CUDA, been read (or written) when it returns.
CUresult copy_now(Driver& driver, const Copy& copy);
CUresult copy_in_stream(Driver& driver, const StreamRef& stream, const Copy& copy);

// Fill is a box of elements of 1, 2 or 4 bytes that all get one value.
struct Fill {
  uintptr_t address = 0;
  size_t pitch = 0;  // bytes from row to row
  uint32_t value = 0;
  size_t element_bytes = 1;
  size_t width = 0;  // elements
  size_t height = 1;
};

// fill_in_stream() submits the fill. CUDA_ERROR_INVALID_VALUE where it does not fit its allocation
// or is not aligned to its elements.
CUresult fill_in_stream(Driver& driver, const StreamRef& stream, const Fill& fill);

}  // namespace sluice::hostcuda
