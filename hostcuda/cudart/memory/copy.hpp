// Copies that several files stand on.
#pragma once

#include <cstddef>

#include <cuda.h>
#include <driver_types.h>

namespace sluice::cudart {

// copy() and copy_async() copy `count` bytes; `kind` picks the driver function.
cudaError_t copy(void* target, const void* source, size_t count, cudaMemcpyKind kind);
cudaError_t copy_async(void* target, const void* source, size_t count, cudaMemcpyKind kind,
                       cudaStream_t stream);

// memory_types() gives the driver's memory types for the two sides of a copy; false where `kind` is
// no kind.
bool memory_types(cudaMemcpyKind kind, CUmemorytype* source, CUmemorytype* target);

// describe_box() gives the driver's description of a 3D copy, of arrays too.
cudaError_t describe_box(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy);

}  // namespace sluice::cudart
