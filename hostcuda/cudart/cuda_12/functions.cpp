// The functions of libcudart.so.12 that libcudart.so.13 has with other parameters or not at all.
#include <cstring>

#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/cuda_12/types.hpp"

using namespace sluice::cudart;

// From here on these are the names that programs ask for: names.h gives the rest of the library
// others.
#undef cudaGetDeviceProperties
#undef cudaGetSurfaceObjectResourceDesc
#undef cudaGetTextureObjectResourceDesc
#undef cudaGraphAddDependencies
#undef cudaGraphAddNode
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaGraphRemoveDependencies
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaMemPrefetchAsync_ptsz
#undef cudaPointerGetAttributes
#undef cudaStreamGetCaptureInfo
#undef cudaStreamGetCaptureInfo_ptsz
#undef cudaStreamUpdateCaptureDependencies
#undef cudaStreamUpdateCaptureDependencies_ptsz

namespace {

// An attribute that the driver does not know is 0.
int read_dropped(CUdevice_attribute attribute, int device) {
  int value = 0;
  return cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? value : 0;
}

cudaError_t read_properties(cuda_12::DeviceProperties* to, int device) {
  cudaDeviceProp from;
  const cudaError_t error = own_device_properties(&from, device);
  if (error != cudaSuccess) return error;
  *to = {};
#define MEMBER(type, name)                            \
  static_assert(sizeof to->name == sizeof from.name); \
  std::memcpy(&to->name, &from.name, sizeof to->name);
#define DROPPED(name, attribute) to->name = read_dropped(CU_DEVICE_ATTRIBUTE_##attribute, device);
#include "hostcuda/cudart/cuda_12/device_properties.def"
#undef MEMBER
#undef DROPPED
  return cudaSuccess;
}

cudaError_t copy_properties(void* to, size_t size, int device) {
  if (to == nullptr) return record(cudaErrorInvalidValue);
  cuda_12::DeviceProperties properties;
  const cudaError_t error = read_properties(&properties, device);
  if (error == cudaSuccess) std::memcpy(to, &properties, size);
  return error;
}

cudaMemLocation location(int device) {
  cudaMemLocation place = {};
  place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  place.id = device == cudaCpuDeviceId ? 0 : device;
  return place;
}

// shown() calls a function that fills a structure of CUDA 13's, and hands out its first `size`
// bytes.
template <class Structure, class Function, class Argument>
cudaError_t shown(Structure* to, size_t size, Function&& function, Argument argument) {
  if (to == nullptr) return record(cudaErrorInvalidValue);
  Structure all = {};
  const cudaError_t error = function(&all, argument);
  if (error == cudaSuccess) std::memcpy(static_cast<void*>(to), &all, size);
  return error;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceProperties_v2(cuda_12::DeviceProperties* properties, int device) {
  return copy_properties(properties, sizeof *properties, device);
}

cudaError_t cudaGetDeviceProperties(void* properties, int device) {
  return copy_properties(properties, cuda_12::size_before_cuda_12, device);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return shown(attributes, cuda_12::pointer_attributes_size, own_pointer_attributes, pointer);
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  return shown(resource, cuda_12::resource_size, own_texture_resource, object);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return shown(resource, cuda_12::resource_size, own_surface_resource, object);
}

cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise_v2(pointer, count, advice, location(device));
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, int device,
                                 cudaStream_t stream) {
  return cudaMemPrefetchAsync_v2(pointer, count, location(device), 0, stream);
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, size_t count, int device,
                                      cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, count, device, per_thread(stream));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t count) {
  return cudaGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, size_t count) {
  return cudaGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             size_t count, cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode_v2(node, graph, after, nullptr, count, parameters);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              size_t* count) {
  return cudaGraphGetEdges_v2(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         size_t* count) {
  return cudaGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           size_t* count) {
  return cudaGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id) {
  return cudaStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                          unsigned long long* id) {
  return cudaStreamGetCaptureInfo(per_thread(stream), status, id);
}

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** after, size_t* count) {
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, after, nullptr, count);
}

cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                             unsigned long long* id, cudaGraph_t* graph,
                                             const cudaGraphNode_t** after, size_t* count) {
  return cudaStreamGetCaptureInfo_v2(per_thread(stream), status, id, graph, after, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count, flags);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                     size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(per_thread(stream), nodes, count, flags);
}

// The CPU device is one device, and each device takes part once.
cudaError_t cudaLaunchCooperativeKernelMultiDevice(cuda_12::LaunchParameters* launches,
                                                   unsigned count, unsigned) {
  if (launches == nullptr || count == 0) return record(cudaErrorInvalidValue);
  if (count > 1) return record(cudaErrorInvalidDevice);
  return cudaLaunchCooperativeKernel(launches->function, launches->grid, launches->block,
                                     launches->arguments, launches->shared_bytes, launches->stream);
}

// All devices since compute capability 1.3 have doubles.
cudaError_t cudaSetDoubleForDevice(double*) {
  return cudaSuccess;
}
cudaError_t cudaSetDoubleForHost(double*) {
  return cudaSuccess;
}

// The names that the device's functions had before CUDA 4.

cudaError_t cudaThreadExit() {
  return cudaDeviceReset();
}
cudaError_t cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return cudaDeviceGetCacheConfig(config);
}
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}
cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}

}  // extern "C"
