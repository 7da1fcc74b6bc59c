// The wrappers of wrapped.def. Each has the signature of the driver function it stands for.
#pragma once

#include <optional>
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
    const KeepErrno keep;                                      \
    return note(driver().symbol arguments, __VA_ARGS__);       \
  }

// SLUICE_TOLD(symbol, (parameters), (arguments), tell) is a wrapper that does what `tell` says
// before it calls the driver.
#define SLUICE_TOLD(symbol, parameters, arguments, tell) \
  extern "C" CUresult sluice_wrap_##symbol parameters {  \
    const KeepErrno keep;                                \
    tell;                                                \
    return driver().symbol arguments;                    \
  }

namespace sluice::interpose {

// per_thread() is the stream that a driver function means whose name ends in _ptsz or _ptds: its
// default stream is the calling thread's own.
inline CUstream per_thread(CUstream stream) {
  return stream == nullptr ? CU_STREAM_PER_THREAD : stream;
}

// is_capturing() says whether some stream is captured.
bool is_capturing();

// note_host_copy() hands on a copy to the host that has succeeded, where these are hashed; where it
// may have been captured, what is copied is a later matter.
void note_host_copy(runtime::HostCopy copy);
// is_host_memory() says whether an address that may be any, as unified addressing has it, is the
// host's own.
bool is_host_memory(CUdeviceptr address);

// taken() is the result of a copy between device memory, or a fill of it, that runs as tasks;
// nothing where the driver has to do it.
inline std::optional<CUresult> taken(const runtime::Transfer& transfer) {
  runtime::Runtime* runtime = Shim::get().runtime();
  if (runtime == nullptr || transfer.row_bytes == 0 || is_capturing()) return std::nullopt;
  const std::optional<int> result = runtime->take(transfer);
  return result ? std::optional(static_cast<CUresult>(*result)) : std::nullopt;
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
