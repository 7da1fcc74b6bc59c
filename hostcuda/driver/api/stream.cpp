// Streams and host functions.
#include <algorithm>
#include <memory>
#include <utility>

#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/api/host_function.hpp"
#include "hostcuda/driver/graph/capture.hpp"
#include "hostcuda/driver/stream/operation.hpp"

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
    stream->queue = make_queue(
        (flags & CU_STREAM_NON_BLOCKING) != 0 ? QueueKind::non_blocking : QueueKind::blocking,
        stream->priority);
    *handle = driver.streams.add(std::move(stream));
    return CUDA_SUCCESS;
  });
}

// CallbackWork calls a callback of the program with the device's error.
class CallbackWork final : public Work {
 public:
  CallbackWork(Driver& driver, Context& context, CUstream stream, CUstreamCallback callback,
               void* data)
      : driver_(driver), context_(context), stream_(stream), callback_(callback), data_(data) {}
  CUresult run(BlockPool&) const override {
    ContextStack& stack = ContextStack::of_this_thread();
    stack.push(&context_);
    callback_(stream_, driver_.engine.error(), data_);
    stack.pop();
    return CUDA_SUCCESS;
  }
  bool calls_the_program() const override { return true; }

 private:
  Driver& driver_;
  Context& context_;
  const CUstream stream_;
  const CUstreamCallback callback_;
  void* const data_;
};

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
    *priority = stream->priority;
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetPriority, ptsz, (CUstream handle, int* priority),
                       (handle, priority))

CUresult cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef& stream) -> CUresult {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetFlags, ptsz, (CUstream handle, unsigned int* flags),
                       (handle, flags))

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef& stream) -> CUresult {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = stream->id;
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetId, ptsz, (CUstream handle, unsigned long long* id), (handle, id))

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  return with_stream(handle, [&](Driver&, Context&, const StreamRef&) -> CUresult {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetDevice, ptsz, (CUstream handle, CUdevice* device),
                       (handle, device))

CUresult cuStreamGetCtx(CUstream handle, CUcontext* owner) {
  return with_stream(handle, [&](Driver&, Context& current, const StreamRef& stream) -> CUresult {
    if (owner == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *owner = (stream->context != nullptr ? *stream->context : current).handle();
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamGetCtx, ptsz, (CUstream handle, CUcontext* owner), (handle, owner))

CUresult cuStreamQuery(CUstream handle) {
  return with_stream(handle, [](Driver& driver, Context&, const StreamRef& stream) -> CUresult {
    if (is_captured(stream)) return invalidate_capture(stream);
    const bool is_done = driver.engine.held().ask(driver.engine.before(stream->queue));
    return is_done ? driver.engine.error() : CUDA_ERROR_NOT_READY;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamQuery, ptsz, (CUstream handle), (handle))

CUresult cuStreamSynchronize(CUstream handle) {
  return with_stream(handle, [](Driver& driver, Context&, const StreamRef& stream) {
    if (is_captured(stream)) return invalidate_capture(stream);
    return driver.engine.wait(driver.engine.before(stream->queue));
  });
}
SLUICE_PER_THREAD_FORM(cuStreamSynchronize, ptsz, (CUstream handle), (handle))

// The wait is work of the stream, so that who waits for the stream waits for the event too.
CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) -> CUresult {
    const std::shared_ptr<Event> event = driver.events.find(event_handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (event->captured() != nullptr) return wait_under_capture(stream, *event);
    Ticket ticket = event->ticket();
    if (is_captured(stream)) {
      return ticket.queue == nullptr ? CUDA_SUCCESS : wait_under_capture(stream, *event);
    }
    if (ticket.is_done() && !driver.engine.held().is_watched()) return CUDA_SUCCESS;
    driver.engine.submit(stream->queue,
                         std::make_shared<const NothingOperation>(CU_GRAPH_NODE_TYPE_WAIT_EVENT),
                         {std::move(ticket)});
    return CUDA_SUCCESS;
  });
}
SLUICE_PER_THREAD_FORM(cuStreamWaitEvent, ptsz,
                       (CUstream handle, CUevent event_handle, unsigned int argument2),
                       (handle, event_handle, argument2))

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data,
                             unsigned int flags) {
  return with_stream(
      handle, [&](Driver& driver, Context& context, const StreamRef& stream) -> CUresult {
        if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        if (is_captured(stream)) return invalidate_capture(stream);
        driver.engine.submit(stream->queue, std::make_shared<const CallbackWork>(
                                                driver, context, handle, callback, data));
        return CUDA_SUCCESS;
      });
}
SLUICE_PER_THREAD_FORM(cuStreamAddCallback, ptsz,
                       (CUstream handle, CUstreamCallback callback, void* data, unsigned int flags),
                       (handle, callback, data, flags))

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return submit_function<HostOperation>(handle, function, data);
}
SLUICE_PER_THREAD_FORM(cuLaunchHostFunc, ptsz, (CUstream handle, CUhostFn function, void* data),
                       (handle, function, data))
