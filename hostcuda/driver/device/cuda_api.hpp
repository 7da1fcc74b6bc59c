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

// SLUICE_OLDER_FORM(older, symbol) exports a function under an older name whose prototype and
// meaning are the same on 64-bit machines.
#define SLUICE_OLDER_FORM(older, symbol) \
  extern "C" __attribute__((visibility("default"), alias(#symbol))) decltype(symbol) older;
