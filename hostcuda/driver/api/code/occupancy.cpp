// Occupancy: how many blocks a multiprocessor is said to hold. A processor runs one block at a
// time; the answers follow the limits that the device's attributes give, so that programs which
// size their grids by them get reasonable ones.
#include <algorithm>

#include "hostcuda/driver/api/entry.hpp"

using namespace sluice::hostcuda;

namespace {

// with_kernel() calls body(Driver&, Kernel&).
template <class Body>
CUresult with_kernel(CUfunction function, Body&& body) noexcept {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<Kernel> kernel = driver.kernels.find(function);
    return kernel == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(driver, *kernel);
  });
}

}  // namespace

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_threads,
                                                              size_t dynamic_shared_bytes,
                                                              unsigned int) {
  return with_kernel(function, [&](Driver&, Kernel& kernel) -> CUresult {
    if (blocks == nullptr || block_threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    *blocks = static_cast<int>(
        kernel.active_blocks(static_cast<unsigned>(block_threads), dynamic_shared_bytes));
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_threads,
                                                     size_t dynamic_shared_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads,
                                                              dynamic_shared_bytes, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block_threads,
                                                   CUfunction function,
                                                   CUoccupancyB2DSize shared_for_block,
                                                   size_t dynamic_shared_bytes, int limit,
                                                   unsigned int) {
  return with_kernel(function, [&](Driver& driver, Kernel& kernel) -> CUresult {
    if (min_grid == nullptr || block_threads == nullptr || limit < 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    unsigned largest = kernel.facts().max_threads;
    if (limit > 0) largest = std::min(largest, static_cast<unsigned>(limit));
    *min_grid = 0;
    *block_threads = 0;
    int most_threads = 0;
    // From the largest block down by warps, the first with the most resident threads.
    for (unsigned threads = largest; threads > 0;
         threads = threads > limits::warp ? (threads - 1) / limits::warp * limits::warp : 0) {
      const size_t shared = shared_for_block != nullptr
                                ? shared_for_block(static_cast<int>(threads))
                                : dynamic_shared_bytes;
      const int blocks = static_cast<int>(kernel.active_blocks(threads, shared));
      if (blocks * static_cast<int>(threads) <= most_threads) continue;
      most_threads = blocks * static_cast<int>(threads);
      *block_threads = static_cast<int>(threads);
      *min_grid = blocks * static_cast<int>(driver.properties.processors);
    }
    return most_threads > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* min_grid, int* block_threads, CUfunction function,
                                          CUoccupancyB2DSize shared_for_block,
                                          size_t dynamic_shared_bytes, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(
      min_grid, block_threads, function, shared_for_block, dynamic_shared_bytes, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks,
                                                 int block_threads) {
  return with_kernel(function, [&](Driver&, Kernel& kernel) -> CUresult {
    if (bytes == nullptr || blocks <= 0 || block_threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    const size_t share = limits::shared_optin_bytes / static_cast<unsigned>(blocks);
    const size_t fixed = kernel.facts().static_shared_bytes;
    *bytes = share > fixed ? std::min<size_t>(share - fixed, kernel.max_dynamic_shared_bytes()) : 0;
    return CUDA_SUCCESS;
  });
}
