// How every exported function begins: no exception leaves it, and it has a driver and a context.
#pragma once

#include <exception>
#include <new>
#include <system_error>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/driver.hpp"

namespace sluice::hostcuda {

// guarded() calls body() and turns what it throws into a CUresult.
template <class Body>
CUresult guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::system_error& error) {
    log::error("the operating system said no: {}", error.what());
    return CUDA_ERROR_OPERATING_SYSTEM;
  } catch (const AssertionFailure& failure) {
    log::error("internal error: {} is false at {}:{}", failure.condition, failure.file,
               failure.line);
    return CUDA_ERROR_UNKNOWN;
  } catch (const std::exception& exception) {
    log::error("internal error: {}", exception.what());
    return CUDA_ERROR_UNKNOWN;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

// with_driver() calls body(Driver&) after cuInit.
template <class Body>
CUresult with_driver(Body&& body) noexcept {
  return guarded([&]() -> CUresult {
    Driver* driver = Driver::get();
    return driver == nullptr ? CUDA_ERROR_NOT_INITIALIZED : body(*driver);
  });
}

// with_device() calls body(Driver&) where `device` is the one that there is.
template <class Body>
CUresult with_device(CUdevice device, Body&& body) noexcept {
  return with_driver([&](Driver& driver) -> CUresult {
    return device != 0 ? CUDA_ERROR_INVALID_DEVICE : body(driver);
  });
}

// with_current_context() calls body(Driver&, Context&) with the calling thread's current context,
// whether or not work of the device has failed.
template <class Body>
CUresult with_current_context(Body&& body) noexcept {
  return with_driver([&](Driver& driver) -> CUresult {
    Context* context = ContextStack::of_this_thread().top();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return context->is_alive() ? body(driver, *context) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  });
}

// with_context() is the same for all that a context can do: none of it once work of the device has
// failed, as in CUDA, until the context is reset or destroyed.
template <class Body>
CUresult with_context(Body&& body) noexcept {
  return with_current_context([&](Driver& driver, Context& context) -> CUresult {
    const CUresult failed = driver.engine.error();
    return failed != CUDA_SUCCESS ? failed : body(driver, context);
  });
}

// with_stream() calls body(Driver&, Context&, const StreamRef&) for a stream of the program.
template <class Body>
CUresult with_stream(CUstream handle, Body&& body) noexcept {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    const StreamRef stream = driver.find_stream(handle);
    return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(driver, context, stream);
  });
}

}  // namespace sluice::hostcuda

// SLUICE_PER_THREAD_FORM(cuStreamQuery, ptsz, (CUstream stream), (stream)) also exports the
// function just defined as cuStreamQuery_ptsz, the form for programs built with a default stream
// per thread.
#define SLUICE_PER_THREAD_FORM(symbol, suffix, parameters, arguments)                       \
  extern "C" __attribute__((visibility("default"))) CUresult symbol##_##suffix parameters { \
    const sluice::hostcuda::DefaultStreamScope scope;                                       \
    return symbol arguments;                                                                \
  }
