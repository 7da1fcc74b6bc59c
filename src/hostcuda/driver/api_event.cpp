// Events.
#include <chrono>
#include <memory>

#include "hostcuda/driver/entry.hpp"

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

bool has_timing(const Event& event) {
  return (event.flags & CU_EVENT_DISABLE_TIMING) == 0;
}

CUresult record(Driver& driver, const StreamRef& stream, const std::shared_ptr<Event>& event) {
  const uint64_t ticket =
      driver.submit(stream, std::function<void()>([event] {
                      event->time.store(Event::Clock::now().time_since_epoch().count());
                    }));
  event->ticket.store(ticket);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuEventCreate(CUevent* handle, unsigned int flags) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    if ((flags & CU_EVENT_INTERPROCESS) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (handle == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    auto event = std::make_shared<Event>();
    event->context = &context;
    event->flags = flags;
    *handle = driver.events.add(std::move(event));
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
    StreamRef stream;
    if (!driver.find_stream(stream_handle, &stream)) return CUDA_ERROR_INVALID_HANDLE;
    return record(driver, stream, event);
  });
}
SLUICE_PER_THREAD_FORM(cuEventRecord, ptsz)

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned int flags) {
  return flags != 0 ? CUDA_ERROR_INVALID_VALUE : cuEventRecord(handle, stream);
}
SLUICE_PER_THREAD_FORM(cuEventRecordWithFlags, ptsz)

CUresult cuEventQuery(CUevent handle) {
  return with_event(handle, [](Driver& driver, const std::shared_ptr<Event>& event) -> CUresult {
    if (!driver.queue.is_done(event->ticket.load())) return CUDA_ERROR_NOT_READY;
    return driver.queue.error();
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return with_event(handle, [](Driver& driver, const std::shared_ptr<Event>& event) {
    return driver.queue.wait(event->ticket.load());
  });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<Event> start = driver.events.find(start_handle);
    const std::shared_ptr<Event> end = driver.events.find(end_handle);
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (start == nullptr || end == nullptr || !has_timing(*start) || !has_timing(*end) ||
        start->ticket.load() == 0 || end->ticket.load() == 0) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!driver.queue.is_done(start->ticket.load()) || !driver.queue.is_done(end->ticket.load())) {
      return CUDA_ERROR_NOT_READY;
    }
    const Event::Clock::duration elapsed(end->time.load() - start->time.load());
    *milliseconds = std::chrono::duration<float, std::milli>(elapsed).count();
    return driver.queue.error();
  });
}
SLUICE_OLDER_FORM(cuEventElapsedTime, cuEventElapsedTime_v2)
