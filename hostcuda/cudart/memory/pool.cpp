// Memory pools, and the memory of graphs.
#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

namespace {

// Attributes, flags and descriptions of both APIs share numbers and layout.
static_assert(static_cast<int>(cudaMemPoolAttrUsedMemHigh) == CU_MEMPOOL_ATTR_USED_MEM_HIGH);
static_assert(static_cast<int>(cudaGraphMemAttrReservedMemHigh) ==
              CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));
static_assert(sizeof(cudaMemLocation) == sizeof(CUmemLocation));
static_assert(sizeof(cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));

CUmemPool_attribute driver_attribute(cudaMemPoolAttr attribute) {
  return static_cast<CUmemPool_attribute>(attribute);
}

CUgraphMem_attribute driver_attribute(cudaGraphMemAttributeType attribute) {
  return static_cast<CUgraphMem_attribute>(attribute);
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return with_context([&] { return cuDeviceGetDefaultMemPool(pool, device); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return with_context([&] { return cuDeviceGetMemPool(pool, device); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return with_context([&] { return cuDeviceSetMemPool(device, pool); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return with_context(
      [&] { return cuMemPoolCreate(pool, reinterpret_cast<const CUmemPoolProps*>(properties)); });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return with_context([&] { return cuMemPoolDestroy(pool); });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_context(
      [&] { return cuMemPoolGetAttribute(pool, driver_attribute(attribute), value); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_context(
      [&] { return cuMemPoolSetAttribute(pool, driver_attribute(attribute), value); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
  return with_context([&] { return cuMemPoolTrimTo(pool, bytes); });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions,
                                 size_t count) {
  return with_context([&] {
    return cuMemPoolSetAccess(pool, reinterpret_cast<const CUmemAccessDesc*>(descriptions), count);
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return with_context([&] {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUmemAccess_flags known = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    const CUresult result =
        cuMemPoolGetAccess(&known, pool, reinterpret_cast<CUmemLocation*>(location));
    *flags = static_cast<cudaMemAccessFlags>(known);
    return result;
  });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return with_context([&] {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pointer = nullptr;
    return bytes == 0 ? CUDA_SUCCESS
                      : cuMemAllocFromPoolAsync(device_address(pointer), bytes, pool, stream);
  });
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void** pointer, size_t bytes, cudaMemPool_t pool,
                                         cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, bytes, pool, per_thread(stream));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  return with_context([&] {
    return cuGraphAddMemAllocNode(node, graph, after, count,
                                  reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(parameters));
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters) {
  return with_context([&] {
    return cuGraphMemAllocNodeGetParams(node,
                                        reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(parameters));
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count, void* pointer) {
  return with_context(
      [&] { return cuGraphAddMemFreeNode(node, graph, after, count, device_address(pointer)); });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return with_context(
      [&] { return cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(pointer)); });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return with_context(
      [&] { return cuDeviceGetGraphMemAttribute(device, driver_attribute(attribute), value); });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return with_context(
      [&] { return cuDeviceSetGraphMemAttribute(device, driver_attribute(attribute), value); });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return with_context([&] { return cuDeviceGraphMemTrim(device); });
}

}  // extern "C"
