// How many workers a device holds, and what each may have.
#pragma once

#include <cstdint>

#include "megakernel/cuda/code_store.hpp"
#include "megakernel/cuda/cuda_driver.hpp"
#include "megakernel/cuda/tables/device_tables.hpp"
#include "megakernel/window.hpp"

namespace sluice::megakernel {

// These are of the device of the calling thread's context.

// attribute_of() is 0 where the driver does not say.
int attribute_of(const CudaDriver& driver, CUdevice_attribute attribute);

// DeviceMemoryFigures is a device's last-level cache, and what its memory brings at most; 0: not
// known.
struct DeviceMemoryFigures {
  uint64_t cache_bytes = 0;
  uint64_t bytes_each_microsecond = 0;
};
DeviceMemoryFigures memory_of(const CudaDriver& driver);

// resident_workers() is how many of that module's workers the device holds at once, with so many
// bytes of shared memory each; one for each processor at least.
uint32_t resident_workers(const CudaDriver& driver, const CodeStore::Loaded& code,
                          uint64_t pool_bytes);

// pool_bytes_of() is what shared memory a worker needs for a window whose blocks run one at a time.
uint64_t pool_bytes_of(const Window& window);

// workers_of() is that module's workers, in the shared memory that they may have before fewer of
// them fit a processor than with blocks one at a time.
Workers workers_of(const CudaDriver& driver, const CodeStore::Loaded& code, const Window& window);

}  // namespace sluice::megakernel
