// Contexts.
#include "hostcuda/driver/api/entry.hpp"

using namespace sluice::hostcuda;

namespace {

// What cuCtxGetApiVersion has answered since CUDA 3.2.
constexpr unsigned context_api_version = 3020;

CUresult create_context(CUcontext* handle, unsigned flags, CUdevice device) {
  return with_device(device, [&](Driver& driver) -> CUresult {
    if (handle == nullptr || (flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    Context* context = driver.contexts.make(flags);
    if (!ContextStack::of_this_thread().push(context)) return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = context->handle();
    return CUDA_SUCCESS;
  });
}

// with_named_context() calls body(Driver&, Context&) for a handle; nullptr names the current one.
template <class Body>
CUresult with_named_context(CUcontext handle, Body&& body) noexcept {
  if (handle == nullptr) return with_current_context(body);
  return with_driver([&](Driver& driver) -> CUresult {
    Context* context = driver.contexts.find(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return context->is_alive() ? body(driver, *context) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  });
}

}  // namespace

CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  return create_context(context, flags, device);
}
SLUICE_OLDER_FORM(cuCtxCreate, cuCtxCreate_v2)

CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int affinities,
                        unsigned int flags, CUdevice device) {
  if (affinities != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return create_context(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags,
                        CUdevice device) {
  if (parameters != nullptr &&
      (parameters->numExecAffinityParams != 0 || parameters->cigParams != nullptr)) {
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  }
  return create_context(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  return with_driver([&](Driver& driver) -> CUresult {
    Context* context = driver.contexts.find(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->is_alive()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    const CUresult destroyed = driver.destroy_context(*context);
    ContextStack& stack = ContextStack::of_this_thread();
    if (stack.top() == context) stack.pop();
    return destroyed;
  });
}
SLUICE_OLDER_FORM(cuCtxDestroy, cuCtxDestroy_v2)

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return with_named_context(handle, [](Driver&, Context& context) -> CUresult {
    return ContextStack::of_this_thread().push(&context) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}
SLUICE_OLDER_FORM(cuCtxPushCurrent, cuCtxPushCurrent_v2)

CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
  return with_driver([&](Driver&) -> CUresult {
    Context* context = ContextStack::of_this_thread().pop();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (handle != nullptr) *handle = context->handle();
    return CUDA_SUCCESS;
  });
}
SLUICE_OLDER_FORM(cuCtxPopCurrent, cuCtxPopCurrent_v2)

CUresult cuCtxSetCurrent(CUcontext handle) {
  return with_driver([&](Driver& driver) -> CUresult {
    Context* context = handle == nullptr ? nullptr : driver.contexts.find(handle);
    if (handle != nullptr && context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    ContextStack::of_this_thread().replace_top(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  return with_driver([&](Driver&) -> CUresult {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* context = ContextStack::of_this_thread().top();
    *handle = context == nullptr ? nullptr : context->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_named_context(handle, [&](Driver&, Context&) -> CUresult {
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return cuCtxGetDevice_v2(device, nullptr);
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return with_current_context([&](Driver&, Context& context) -> CUresult {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = context.flags();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned int flags) {
  return with_current_context([&](Driver&, Context& context) -> CUresult {
    if ((flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0) return CUDA_ERROR_INVALID_VALUE;
    context.set_flags(flags);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_named_context(handle, [&](Driver&, Context& context) -> CUresult {
    *id = context.id();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_named_context(handle, [&](Driver&, Context&) -> CUresult {
    *version = context_api_version;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return with_named_context(handle, [](Driver& driver, Context&) { return driver.wait_for_all(); });
}

CUresult cuCtxSynchronize() {
  return cuCtxSynchronize_v2(nullptr);
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return with_current_context([&](Driver&, Context& context) -> CUresult {
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE : context.get_limit(limit, value);
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return with_current_context(
      [&](Driver&, Context& context) -> CUresult { return context.set_limit(limit, value); });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return with_current_context([&](Driver&, Context&) -> CUresult {
    if (least != nullptr) *least = least_stream_priority;
    if (greatest != nullptr) *greatest = greatest_stream_priority;
    return CUDA_SUCCESS;
  });
}

// Caches and shared memory banks: hints, which a CPU has no use for.
CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return with_current_context([&](Driver&, Context&) -> CUresult {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_FUNC_CACHE_PREFER_NONE;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  return with_current_context([](Driver&, Context&) { return CUDA_SUCCESS; });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return with_current_context([&](Driver&, Context&) -> CUresult {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
  return with_current_context([](Driver&, Context&) { return CUDA_SUCCESS; });
}

CUresult cuCtxResetPersistingL2Cache() {
  return with_current_context([](Driver&, Context&) { return CUDA_SUCCESS; });
}

CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int) {
  return with_current_context([](Driver&, Context&) { return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED; });
}

CUresult cuCtxDisablePeerAccess(CUcontext) {
  return with_current_context([](Driver&, Context&) { return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED; });
}
