#include "megakernel/cuda/occupancy.hpp"

#include <algorithm>

namespace sluice::megakernel {
namespace {

uint64_t figure_of(const CudaDriver& driver, CUdevice_attribute attribute) {
  return static_cast<uint64_t>(std::max(0, attribute_of(driver, attribute)));
}

// A window asks several times, and mostly what the window before it has asked.
uint32_t workers_on_processor(const CudaDriver& driver, const CodeStore::Loaded& code,
                              uint64_t pool_bytes) {
  const std::lock_guard lock(code.occupancy_mutex);
  uint32_t& known = code.occupancy[pool_bytes];
  if (known != 0) return known;
  int blocks = 0;
  driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, code.function,
                                                     static_cast<int>(code.threads), pool_bytes);
  return known = static_cast<uint32_t>(std::max(1, blocks));
}

}  // namespace

int attribute_of(const CudaDriver& driver, CUdevice_attribute attribute) {
  CUdevice device = 0;
  int value = 0;
  if (driver.cuCtxGetDevice(&device) != CUDA_SUCCESS) return 0;
  return driver.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? value : 0;
}

DeviceMemoryFigures memory_of(const CudaDriver& driver) {
  const uint64_t kilohertz = figure_of(driver, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const uint64_t bits = figure_of(driver, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  constexpr uint64_t transfers_each_cycle = 2;
  return {.cache_bytes = figure_of(driver, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
          .bytes_each_microsecond = transfers_each_cycle * kilohertz * (bits / 8) / 1000};
}

uint32_t resident_workers(const CudaDriver& driver, const CodeStore::Loaded& code,
                          uint64_t pool_bytes) {
  const int processors = attribute_of(driver, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  return workers_on_processor(driver, code, pool_bytes) *
         static_cast<uint32_t>(std::max(1, processors));
}

uint64_t pool_bytes_of(const Window& window) {
  uint64_t bytes = 0;
  for (const LaunchCode& code : window.code)
    bytes = std::max(bytes, code.device->pool_bytes(code.launch->dynamic_shared_bytes));
  return bytes;
}

Workers workers_of(const CudaDriver& driver, const CodeStore::Loaded& code, const Window& window) {
  constexpr uint64_t unit = 1024;  // devices give it in such pieces or in smaller ones
  const uint64_t all = figure_of(driver, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  const uint64_t share =
      all / workers_on_processor(driver, code, pool_bytes_of(window)) / unit * unit;
  const uint64_t reserved = figure_of(driver, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  return {.threads = code.threads,
          .most_bytes =
              std::min(share - std::min(share, reserved),
                       figure_of(driver, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN))};
}

}  // namespace sluice::megakernel
