// Comes before everything else in each source file of libcudart.so.12. Where a function of CUDA 13
// has the signature that CUDA 12 gives to a name with a suffix, the function gets that name; where
// it fills a structure that is another one in CUDA 12, it stays inside the library. What takes the
// free names is in functions.cpp.
#pragma once

#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphAddNode cudaGraphAddNode_v2
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#define cudaMemAdvise cudaMemAdvise_v2
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_v2
#define cudaMemPrefetchAsync_ptsz cudaMemPrefetchAsync_v2_ptsz
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#define cudaStreamGetCaptureInfo_ptsz cudaStreamGetCaptureInfo_v3_ptsz
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2
#define cudaStreamUpdateCaptureDependencies_ptsz cudaStreamUpdateCaptureDependencies_v2_ptsz

#define cudaGetDeviceProperties own_device_properties
#define cudaGetSurfaceObjectResourceDesc own_surface_resource
#define cudaGetTextureObjectResourceDesc own_texture_resource
#define cudaPointerGetAttributes own_pointer_attributes

#include <cuda_runtime_api.h>

// The last version of CUDA 12.
#undef CUDART_VERSION
#define CUDART_VERSION 12090
