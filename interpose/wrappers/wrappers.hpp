// The wrappers of wrapped.def. Each has the signature of the driver function it stands for.
#pragma once

#include <type_traits>

#include <cuda.h>

#include "interpose/shim.hpp"

extern "C" {
#define SLUICE_WRAPPED(symbol) std::remove_pointer_t<decltype(&::symbol)> sluice_wrap_##symbol;
#include "interpose/symbols/wrapped.def"
}

// SLUICE_NOTED(symbol, (parameters), (arguments), note, ...) is a wrapper that calls the driver and
// returns note(result, ...).
#define SLUICE_NOTED(symbol, parameters, arguments, note, ...) \
  extern "C" CUresult sluice_wrap_##symbol parameters {        \
    const ErrnoGuard guard;                                    \
    return note(driver().symbol arguments, __VA_ARGS__);       \
  }

// SLUICE_TOLD(symbol, (parameters), (arguments), tell) is a wrapper that does what `tell` says
// before it calls the driver.
#define SLUICE_TOLD(symbol, parameters, arguments, tell) \
  extern "C" CUresult sluice_wrap_##symbol parameters {  \
    const ErrnoGuard guard;                              \
    tell;                                                \
    return driver().symbol arguments;                    \
  }

namespace sluice::interpose {

// per_thread() is the stream that a driver function means whose name ends in _ptsz or _ptds: its
// default stream is the calling thread's own.
inline CUstream per_thread(CUstream stream) {
  return stream == nullptr ? CU_STREAM_PER_THREAD : stream;
}

// noted() tells the runtime of what a driver call that has succeeded wrote to `handle`.
template <class... Taken, class Handle, class... Given>
CUresult noted(CUresult result, void (runtime::Runtime::*note)(Taken...), const Handle* handle,
               Given... given) {
  runtime::Runtime* runtime = Shim::get().runtime();
  if (result == CUDA_SUCCESS && runtime != nullptr) (runtime->*note)(*handle, given...);
  return result;
}

}  // namespace sluice::interpose
