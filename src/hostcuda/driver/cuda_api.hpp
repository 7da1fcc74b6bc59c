// cuda.h as a driver sees it: every function under the very name it is exported by, so that the
// compiler checks each definition against NVIDIA's prototype.
//
// Without the version macros of cuda.h, `cuMemAlloc` would silently mean `cuMemAlloc_v2`. The
// declarations are visible: what this library defines of them is what it exports.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

// SLUICE_PER_THREAD_FORM(cuStreamQuery, ptsz) also exports the function just defined as
// cuStreamQuery_ptsz, the form for programs built with a default stream per thread. All streams of
// this device share one queue, so both forms do the same.
#define SLUICE_PER_THREAD_FORM(symbol, suffix) \
  extern "C"                                   \
      __attribute__((visibility("default"), alias(#symbol))) decltype(symbol) symbol##_##suffix;

// SLUICE_OLDER_FORM(older, symbol) exports a function under an older name whose prototype and
// meaning are the same on 64-bit machines.
#define SLUICE_OLDER_FORM(older, symbol) \
  extern "C" __attribute__((visibility("default"), alias(#symbol))) decltype(symbol) older;
