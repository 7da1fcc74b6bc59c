// Events.
#include <chrono>
#include <memory>

#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/api/event_promise.hpp"
#include "hostcuda/driver/graph/capture.hpp"

using namespace sluice::hostcuda;

namespace {

// with_event() calls body(Driver&, const std::shared_ptr<Event>&).
template <class Body>
CUresult with_event(CUevent handle, Body&& body) noexcept {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<Event> event = driver.events.find(handle);
    return event == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(driver, event);
  });
}

CUresult record(Driver& driver, const StreamRef& stream, const std::shared_ptr<Event>& event) {
  if (is_captured(stream)) return record_under_capture(stream, *event);
  event->set_ticket(driver.engine.submit_instant(stream->queue, [event] { event->reach(); }));
  return CUDA_SUCCESS;
}

}  // namespace

int sluice::hostcuda::promise_event(void* handle, void* stream_handle, void** promise) {
  return with_event(static_cast<CUevent>(handle),
                    [&](Driver& driver, const std::shared_ptr<Event>& event) -> CUresult {
                      const StreamRef stream =
                          driver.find_stream(static_cast<CUstream>(stream_handle));
                      if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
                      if (is_captured(stream)) return CUDA_ERROR_NOT_PERMITTED;
                      auto made = std::make_unique<EventPromise>(
                          EventPromise{driver, event, StreamOrder::promise(stream->queue)});
                      event->set_ticket(made->ticket);
                      *promise = made.release();
                      return CUDA_SUCCESS;
                    });
}

void sluice::hostcuda::reach_event(void* promise) {
  const std::unique_ptr<EventPromise> made(static_cast<EventPromise*>(promise));
  // The caller may be a destructor: nothing is thrown.
  guarded([&] {
    // A later record has a time of its own.
    const bool is_event = made->event != nullptr;
    if (is_event && made->event->ticket().queue == made->ticket.queue) made->event->reach();
    made->driver.engine.keep(made->ticket);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventCreate(CUevent* handle, unsigned int flags) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    if ((flags & CU_EVENT_INTERPROCESS) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (handle == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    *handle = driver.events.add(std::make_shared<Event>(&context, flags));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy_v2(CUevent handle) {
  return with_driver([&](Driver& driver) -> CUresult {
    return driver.events.remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
SLUICE_OLDER_FORM(cuEventDestroy, cuEventDestroy_v2)

CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  return with_event(handle, [&](Driver& driver, const std::shared_ptr<Event>& event) -> CUresult {
    const StreamRef stream = driver.find_stream(stream_handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return record(driver, stream, event);
  });
}
SLUICE_PER_THREAD_FORM(cuEventRecord, ptsz, (CUevent handle, CUstream stream_handle),
                       (handle, stream_handle))

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned int flags) {
  return flags != 0 ? CUDA_ERROR_INVALID_VALUE : cuEventRecord(handle, stream);
}
SLUICE_PER_THREAD_FORM(cuEventRecordWithFlags, ptsz,
                       (CUevent handle, CUstream stream, unsigned int flags),
                       (handle, stream, flags))

CUresult cuEventQuery(CUevent handle) {
  return with_event(handle, [](Driver& driver, const std::shared_ptr<Event>& event) -> CUresult {
    if (event->captured() != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
    return driver.engine.held().ask({event->ticket()}) ? driver.engine.error()
                                                       : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return with_event(handle, [](Driver& driver, const std::shared_ptr<Event>& event) -> CUresult {
    if (event->captured() != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
    return driver.engine.wait(event->ticket());
  });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<Event> start = driver.events.find(start_handle);
    const std::shared_ptr<Event> end = driver.events.find(end_handle);
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (start == nullptr || end == nullptr || !start->has_timing() || !end->has_timing() ||
        start->ticket().queue == nullptr || end->ticket().queue == nullptr) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!driver.engine.held().ask({start->ticket(), end->ticket()})) return CUDA_ERROR_NOT_READY;
    const Event::Clock::duration elapsed = end->time() - start->time();
    *milliseconds = std::chrono::duration<float, std::milli>(elapsed).count();
    return driver.engine.error();
  });
}
SLUICE_OLDER_FORM(cuEventElapsedTime, cuEventElapsedTime_v2)
