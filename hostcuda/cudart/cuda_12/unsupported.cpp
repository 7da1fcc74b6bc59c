// What libcudart.so.12 lacks beside what libcudart.so.13 lacks: these functions' later forms, which
// have their names to themselves in CUDA 13.
#include "hostcuda/cudart/api.hpp"

#define CUDART_UNSUPPORTED(name)                              \
  extern "C" cudaError_t unsupported_##name() __asm__(#name); \
  cudaError_t unsupported_##name() {                          \
    return sluice::cudart::unsupported(#name);                \
  }
CUDART_UNSUPPORTED(cudaSignalExternalSemaphoresAsync_v2)
CUDART_UNSUPPORTED(cudaSignalExternalSemaphoresAsync_v2_ptsz)
CUDART_UNSUPPORTED(cudaWaitExternalSemaphoresAsync_v2)
CUDART_UNSUPPORTED(cudaWaitExternalSemaphoresAsync_v2_ptsz)
#undef CUDART_UNSUPPORTED
