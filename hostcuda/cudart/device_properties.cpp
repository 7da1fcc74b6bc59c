// Device attributes, and the properties, which are attributes gathered in a structure.
#include <cstring>

#include "hostcuda/cudart/api.hpp"

using namespace sluice::cudart;

namespace {

// An attribute that the driver does not know is 0.
int read(CUdevice device, CUdevice_attribute attribute) {
  int value = 0;
  return cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? value : 0;
}

// IntegerProperty names an attribute and the int of cudaDeviceProp that holds it.
struct IntegerProperty {
  CUdevice_attribute attribute;
  int cudaDeviceProp::* member;
};
struct UnsignedProperty {
  CUdevice_attribute attribute;
  unsigned cudaDeviceProp::* member;
};
struct SizeProperty {
  CUdevice_attribute attribute;
  size_t cudaDeviceProp::* member;
};

constexpr IntegerProperty integer_properties[] = {
#define PROPERTY(attribute, member) {CU_DEVICE_ATTRIBUTE_##attribute, &cudaDeviceProp::member},
    PROPERTY(MAX_REGISTERS_PER_BLOCK, regsPerBlock) PROPERTY(WARP_SIZE, warpSize) PROPERTY(
        MAX_THREADS_PER_BLOCK,
        maxThreadsPerBlock) PROPERTY(COMPUTE_CAPABILITY_MAJOR,
                                     major) PROPERTY(COMPUTE_CAPABILITY_MINOR,
                                                     minor) PROPERTY(MULTIPROCESSOR_COUNT,
                                                                     multiProcessorCount)
        PROPERTY(INTEGRATED, integrated) PROPERTY(CAN_MAP_HOST_MEMORY, canMapHostMemory) PROPERTY(
            MAXIMUM_TEXTURE1D_WIDTH,
            maxTexture1D) PROPERTY(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH,
                                   maxTexture1DMipmap) PROPERTY(MAXIMUM_TEXTURECUBEMAP_WIDTH,
                                                                maxTextureCubemap)
            PROPERTY(MAXIMUM_SURFACE1D_WIDTH, maxSurface1D) PROPERTY(
                MAXIMUM_SURFACECUBEMAP_WIDTH,
                maxSurfaceCubemap) PROPERTY(CONCURRENT_KERNELS,
                                            concurrentKernels) PROPERTY(ECC_ENABLED, ECCEnabled)
                PROPERTY(PCI_BUS_ID, pciBusID) PROPERTY(PCI_DEVICE_ID, pciDeviceID) PROPERTY(
                    PCI_DOMAIN_ID,
                    pciDomainID) PROPERTY(TCC_DRIVER,
                                          tccDriver) PROPERTY(ASYNC_ENGINE_COUNT,
                                                              asyncEngineCount) PROPERTY(UNIFIED_ADDRESSING, unifiedAddressing)
                    PROPERTY(GLOBAL_MEMORY_BUS_WIDTH, memoryBusWidth) PROPERTY(
                        L2_CACHE_SIZE,
                        l2CacheSize) PROPERTY(MAX_PERSISTING_L2_CACHE_SIZE,
                                              persistingL2CacheMaxSize)
                        PROPERTY(MAX_THREADS_PER_MULTIPROCESSOR, maxThreadsPerMultiProcessor) PROPERTY(
                            STREAM_PRIORITIES_SUPPORTED,
                            streamPrioritiesSupported) PROPERTY(GLOBAL_L1_CACHE_SUPPORTED, globalL1CacheSupported)
                            PROPERTY(LOCAL_L1_CACHE_SUPPORTED, localL1CacheSupported) PROPERTY(
                                MAX_REGISTERS_PER_MULTIPROCESSOR,
                                regsPerMultiprocessor) PROPERTY(MANAGED_MEMORY, managedMemory)
                                PROPERTY(MULTI_GPU_BOARD, isMultiGpuBoard) PROPERTY(
                                    MULTI_GPU_BOARD_GROUP_ID,
                                    multiGpuBoardGroupID) PROPERTY(HOST_NATIVE_ATOMIC_SUPPORTED,
                                                                   hostNativeAtomicSupported)
                                    PROPERTY(PAGEABLE_MEMORY_ACCESS, pageableMemoryAccess) PROPERTY(
                                        CONCURRENT_MANAGED_ACCESS, concurrentManagedAccess)
                                        PROPERTY(COMPUTE_PREEMPTION_SUPPORTED, computePreemptionSupported) PROPERTY(
                                            CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
                                            canUseHostPointerForRegisteredMem)
                                            PROPERTY(COOPERATIVE_LAUNCH, cooperativeLaunch) PROPERTY(
                                                PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
                                                pageableMemoryAccessUsesHostPageTables)
                                                PROPERTY(
                                                    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST,
                                                    directManagedMemAccessFromHost) PROPERTY(MAX_BLOCKS_PER_MULTIPROCESSOR,
                                                                                             maxBlocksPerMultiProcessor)
                                                    PROPERTY(
                                                        MAX_ACCESS_POLICY_WINDOW_SIZE,
                                                        accessPolicyMaxWindowSize) PROPERTY(HOST_REGISTER_SUPPORTED,
                                                                                            hostRegisterSupported)
                                                        PROPERTY(SPARSE_CUDA_ARRAY_SUPPORTED, sparseCudaArraySupported) PROPERTY(
                                                            READ_ONLY_HOST_REGISTER_SUPPORTED,
                                                            hostRegisterReadOnlySupported) PROPERTY(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED,
                                                                                                    timelineSemaphoreInteropSupported)
                                                            PROPERTY(MEMORY_POOLS_SUPPORTED, memoryPoolsSupported) PROPERTY(
                                                                GPU_DIRECT_RDMA_SUPPORTED,
                                                                gpuDirectRDMASupported)
                                                                PROPERTY(
                                                                    GPU_DIRECT_RDMA_WRITES_ORDERING,
                                                                    gpuDirectRDMAWritesOrdering)
                                                                    PROPERTY(
                                                                        DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED,
                                                                        deferredMappingCudaArraySupported)
                                                                        PROPERTY(
                                                                            IPC_EVENT_SUPPORTED,
                                                                            ipcEventSupported)
                                                                            PROPERTY(CLUSTER_LAUNCH, clusterLaunch) PROPERTY(
                                                                                UNIFIED_FUNCTION_POINTERS,
                                                                                unifiedFunctionPointers)
                                                                                PROPERTY(
                                                                                    NUMA_CONFIG,
                                                                                    deviceNumaConfig)
                                                                                    PROPERTY(
                                                                                        NUMA_ID,
                                                                                        deviceNumaId)
                                                                                        PROPERTY(
                                                                                            MPS_ENABLED,
                                                                                            mpsEnabled)
                                                                                            PROPERTY(
                                                                                                HOST_NUMA_ID,
                                                                                                hostNumaId)
                                                                                                PROPERTY(
                                                                                                    HOST_NUMA_MULTINODE_IPC_SUPPORTED,
                                                                                                    hostNumaMultinodeIpcSupported)};

constexpr UnsignedProperty unsigned_properties[] = {
    PROPERTY(GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, gpuDirectRDMAFlushWritesOptions)
        PROPERTY(MEMPOOL_SUPPORTED_HANDLE_TYPES, memoryPoolSupportedHandleTypes) PROPERTY(
            GPU_PCI_DEVICE_ID, gpuPciDeviceID) PROPERTY(GPU_PCI_SUBSYSTEM_ID, gpuPciSubsystemID)};

constexpr SizeProperty size_properties[] = {
    PROPERTY(MAX_SHARED_MEMORY_PER_BLOCK, sharedMemPerBlock) PROPERTY(MAX_PITCH, memPitch)
        PROPERTY(TOTAL_CONSTANT_MEMORY, totalConstMem) PROPERTY(TEXTURE_ALIGNMENT, textureAlignment)
            PROPERTY(TEXTURE_PITCH_ALIGNMENT, texturePitchAlignment)
                PROPERTY(SURFACE_ALIGNMENT, surfaceAlignment)
                    PROPERTY(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, sharedMemPerMultiprocessor)
                        PROPERTY(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, sharedMemPerBlockOptin)
                            PROPERTY(RESERVED_SHARED_MEMORY_PER_BLOCK, reservedSharedMemPerBlock)
#undef PROPERTY
};

template <size_t n>
void read_array(CUdevice device, int (&values)[n], const CUdevice_attribute (&attributes)[n]) {
  for (size_t i = 0; i < n; ++i)
    values[i] = read(device, attributes[i]);
}

void read_extents(CUdevice device, cudaDeviceProp* p) {
#define A(name) CU_DEVICE_ATTRIBUTE_##name
  read_array(device, p->maxThreadsDim,
             {A(MAX_BLOCK_DIM_X), A(MAX_BLOCK_DIM_Y), A(MAX_BLOCK_DIM_Z)});
  read_array(device, p->maxGridSize, {A(MAX_GRID_DIM_X), A(MAX_GRID_DIM_Y), A(MAX_GRID_DIM_Z)});
  read_array(device, p->maxTexture2D, {A(MAXIMUM_TEXTURE2D_WIDTH), A(MAXIMUM_TEXTURE2D_HEIGHT)});
  read_array(device, p->maxTexture2DMipmap,
             {A(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH), A(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT)});
  read_array(device, p->maxTexture2DLinear,
             {A(MAXIMUM_TEXTURE2D_LINEAR_WIDTH), A(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
              A(MAXIMUM_TEXTURE2D_LINEAR_PITCH)});
  read_array(device, p->maxTexture2DGather,
             {A(MAXIMUM_TEXTURE2D_GATHER_WIDTH), A(MAXIMUM_TEXTURE2D_GATHER_HEIGHT)});
  read_array(device, p->maxTexture3D,
             {A(MAXIMUM_TEXTURE3D_WIDTH), A(MAXIMUM_TEXTURE3D_HEIGHT), A(MAXIMUM_TEXTURE3D_DEPTH)});
  read_array(device, p->maxTexture3DAlt,
             {A(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE), A(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE),
              A(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE)});
  read_array(device, p->maxTexture1DLayered,
             {A(MAXIMUM_TEXTURE1D_LAYERED_WIDTH), A(MAXIMUM_TEXTURE1D_LAYERED_LAYERS)});
  read_array(device, p->maxTexture2DLayered,
             {A(MAXIMUM_TEXTURE2D_LAYERED_WIDTH), A(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT),
              A(MAXIMUM_TEXTURE2D_LAYERED_LAYERS)});
  read_array(device, p->maxTextureCubemapLayered,
             {A(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH), A(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS)});
  read_array(device, p->maxSurface2D, {A(MAXIMUM_SURFACE2D_WIDTH), A(MAXIMUM_SURFACE2D_HEIGHT)});
  read_array(device, p->maxSurface3D,
             {A(MAXIMUM_SURFACE3D_WIDTH), A(MAXIMUM_SURFACE3D_HEIGHT), A(MAXIMUM_SURFACE3D_DEPTH)});
  read_array(device, p->maxSurface1DLayered,
             {A(MAXIMUM_SURFACE1D_LAYERED_WIDTH), A(MAXIMUM_SURFACE1D_LAYERED_LAYERS)});
  read_array(device, p->maxSurface2DLayered,
             {A(MAXIMUM_SURFACE2D_LAYERED_WIDTH), A(MAXIMUM_SURFACE2D_LAYERED_HEIGHT),
              A(MAXIMUM_SURFACE2D_LAYERED_LAYERS)});
  read_array(device, p->maxSurfaceCubemapLayered,
             {A(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH), A(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS)});
#undef A
}

cudaError_t read_properties(cudaDeviceProp* properties, CUdevice device) {
  *properties = {};
  CUresult result = cuDeviceGetName(properties->name, sizeof properties->name, device);
  if (result == CUDA_SUCCESS) result = cuDeviceTotalMem(&properties->totalGlobalMem, device);
  CUuuid uuid{};
  if (result == CUDA_SUCCESS) result = cuDeviceGetUuid(&uuid, device);
  if (result != CUDA_SUCCESS) return to_error(result);
  static_assert(sizeof uuid == sizeof properties->uuid);
  std::memcpy(&properties->uuid, &uuid, sizeof uuid);
  for (const auto& [attribute, member] : integer_properties) {
    properties->*member = read(device, attribute);
  }
  for (const auto& [attribute, member] : unsigned_properties) {
    properties->*member = static_cast<unsigned>(read(device, attribute));
  }
  for (const auto& [attribute, member] : size_properties) {
    properties->*member = static_cast<size_t>(read(device, attribute));
  }
  read_extents(device, properties);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return with_driver([&] {
    const cudaError_t error = properties == nullptr ? cudaErrorInvalidValue : check_device(device);
    return error == cudaSuccess ? read_properties(properties, device) : error;
  });
}

// Both APIs number the attributes alike.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return with_driver([&] {
    const cudaError_t error = value == nullptr ? cudaErrorInvalidValue : check_device(device);
    if (error != cudaSuccess) return error;
    return to_error(
        cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device));
  });
}

}  // extern "C"
