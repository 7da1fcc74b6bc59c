// What this library does not have: stream attributes,
// and sharing with other processes and with graphics. A program that calls one of these functions
// gets an error and a line in the log, where a missing symbol would end it.
#include "hostcuda/cudart/api.hpp"

// Each function carries the exported name as an assembler label: under its own C++ name it does not
// meet the declaration in CUDA's headers, whose parameters nothing here reads.
#define CUDART_UNSUPPORTED(name)                              \
  extern "C" cudaError_t unsupported_##name() __asm__(#name); \
  cudaError_t unsupported_##name() {                          \
    return sluice::cudart::unsupported(#name);                \
  }
#include "hostcuda/cudart/unsupported.def"
#undef CUDART_UNSUPPORTED
