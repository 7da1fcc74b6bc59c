// The wrappers of wrapped.def. Each has the signature of the driver function it stands for.
#pragma once

#include <type_traits>

#include <cuda.h>

extern "C" {
#define SLUICE_WRAPPED(symbol) std::remove_pointer_t<decltype(&::symbol)> sluice_wrap_##symbol;
#include "interpose/wrapped.def"
#undef SLUICE_WRAPPED
}
