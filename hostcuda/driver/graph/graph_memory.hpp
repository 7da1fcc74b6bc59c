// Memory that is allocated and freed by nodes of graphs.
#pragma once

#include <cstddef>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/driver.hpp"
#include "hostcuda/driver/memory/pool.hpp"
#include "hostcuda/driver/stream/operation.hpp"

namespace sluice::hostcuda {

// allocate_pooled() allocates device memory of an owner's and counts it in a pool.
CUresult allocate_pooled(Driver& driver, const void* owner, size_t bytes, const PoolRef& pool,
                         CUdeviceptr* pointer);

// make_graph_memory() allocates memory and gives the operation of the node whose memory it is.
CUresult make_graph_memory(Driver& driver, size_t bytes, CUdeviceptr* pointer,
                           SharedOperation* operation);

// make_graph_free() is the operation of a node that ends the use of a graph's memory.
SharedOperation make_graph_free(Driver& driver, CUdeviceptr pointer);

}  // namespace sluice::hostcuda
