// Streams and host functions.
#include <algorithm>
#include <memory>
#include <utility>

#include "hostcuda/driver/entry.hpp"

using namespace sluice::hostcuda;

namespace {

CUresult create_stream(CUstream* handle, unsigned flags, int priority) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    if (handle == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto stream = std::make_shared<Stream>();
    stream->context = &context;
    stream->flags = flags;
    stream->priority = std::clamp(priority, greatest_stream_priority, least_stream_priority);
    stream->id = driver.next_id();
    *handle = driver.streams.add(std::move(stream));
    return CUDA_SUCCESS;
  });
}

// submit_host_function() runs body() in stream order, with the submitter's context current, so
// that it can submit work itself.
template <class Body>
void submit_host_function(Driver& driver, Context& context, const StreamRef& stream, Body body) {
  driver.submit(stream, std::function<void()>([&context, body] {
                  ContextStack& stack = ContextStack::of_this_thread();
                  stack.push(&context);
                  body();
                  stack.pop();
                }));
}

}  // namespace

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return create_stream(stream, flags, least_stream_priority);
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return create_stream(stream, flags, priority);
}

// Work that is still in the stream runs to its end; nothing of it needs the stream itself.
CUresult cuStreamDestroy_v2(CUstream stream) {
  return with_driver([&](Driver& driver) -> CUresult {
    return driver.streams.remove(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
SLUICE_OLDER_FORM(cuStreamDestroy, cuStreamDestroy_v2)

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef& stream) -> CUresult {
    if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *priority = stream.stream ? stream.stream->priority : least_stream_priority;
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetPriority, ptsz)

CUresult cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef& stream) -> CUresult {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = stream.stream ? stream.stream->flags : unsigned{CU_STREAM_DEFAULT};
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetFlags, ptsz)

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef& stream) -> CUresult {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = stream.stream ? stream.stream->id : reinterpret_cast<uintptr_t>(handle);
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetId, ptsz)

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef&) -> CUresult {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetDevice, ptsz)

CUresult cuStreamGetCtx(CUstream handle, CUcontext* owner) {
  return with_stream(handle, [&](Driver&, Context& current, const StreamRef& stream) -> CUresult {
    if (owner == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *owner = (stream.stream ? *stream.stream->context : current).handle();
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetCtx, ptsz)

CUresult cuStreamQuery(CUstream handle) {
  return with_stream(handle, [](Driver& driver, Context&, const StreamRef& stream) -> CUresult {
    if (!driver.queue.is_done(driver.last_ticket(stream))) return CUDA_ERROR_NOT_READY;
    return driver.queue.error();
  });
}
SLUICE_PER_THREAD_FORM(cuStreamQuery, ptsz)

CUresult cuStreamSynchronize(CUstream handle) {
  return with_stream(handle, [](Driver& driver, Context&, const StreamRef& stream) {
    return driver.queue.wait(driver.last_ticket(stream));
  });
}
SLUICE_PER_THREAD_FORM(cuStreamSynchronize, ptsz)

// The record that the event stands for is in the queue already, before all that follows; only who
// waits for this stream must wait for it too.
CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) -> CUresult {
    const std::shared_ptr<Event> event = driver.events.find(event_handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (stream.stream) stream.stream->raise_ticket(event->ticket.load());
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamWaitEvent, ptsz)

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef&) -> CUresult {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;  // graphs, and so capture, are unsupported
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamIsCapturing, ptsz)

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  static thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  *mode = std::exchange(current, *mode);
  return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data,
                             unsigned int flags) {
  return with_stream(
      handle, [&](Driver& driver, Context& context, const StreamRef& stream) -> CUresult {
        if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        submit_host_function(driver, context, stream, [&driver, handle, callback, data] {
          callback(handle, driver.queue.error(), data);
        });
        return CUDA_SUCCESS;
      });
}
SLUICE_PER_THREAD_FORM(cuStreamAddCallback, ptsz)

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return with_stream(
      handle, [&](Driver& driver, Context& context, const StreamRef& stream) -> CUresult {
        if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
        submit_host_function(driver, context, stream, [function, data] { function(data); });
        return CUDA_SUCCESS;
      });
}
SLUICE_PER_THREAD_FORM(cuLaunchHostFunc, ptsz)
