// Calls that order streams, events and the host. They close the windows and go to the driver; a
// check for races is told of those that succeed.
#include <memory>
#include <utility>

#include "interpose/per_thread.hpp"
#include "interpose/shim.hpp"
#include "interpose/wrappers.hpp"

using namespace sluice::interpose;
using sluice::runtime::Ordering;

namespace {

const DriverCalls& driver() {
  return Shim::get().calls();
}

void tell(Ordering::Kind kind, CUstream stream, CUevent event = nullptr) {
  sluice::runtime::Runtime* runtime = Shim::get().runtime();
  if (runtime != nullptr && runtime->checks_races()) runtime->ordered({kind, stream, event});
}

template <class Call>
CUresult ordering(Ordering::Kind kind, CUstream stream, CUevent event, Call&& call) {
  const ErrnoGuard guard;
  flushed_runtime();
  const CUresult result = call();
  if (result == CUDA_SUCCESS) tell(kind, stream, event);
  return result;
}

Ordering::Kind kind_of_stream(unsigned int flags) {
  return (flags & CU_STREAM_NON_BLOCKING) != 0 ? Ordering::Kind::non_blocking_stream_created
                                               : Ordering::Kind::blocking_stream_created;
}

// HostCall is a host function of the program's with the moment in its stream.
template <class Function>
struct HostCall {
  Function function;
  void* data;
  std::shared_ptr<const sluice::runtime::VectorClock> moment;
};

template <class Function>
std::unique_ptr<HostCall<Function>> begun(void* data) {
  std::unique_ptr<HostCall<Function>> call(static_cast<HostCall<Function>*>(data));
  if (sluice::runtime::Runtime* runtime = Shim::get().runtime()) {
    runtime->host_function_began(call->moment);
  }
  return call;
}

void CUDA_CB run_host_function(void* data) {
  const auto call = begun<CUhostFn>(data);
  call->function(call->data);
}

void CUDA_CB run_callback(CUstream stream, CUresult status, void* data) {
  const auto call = begun<CUstreamCallback>(data);
  call->function(stream, status, call->data);
}

// with_moment() enqueues `replacement` in the place of a host function where races are checked.
template <class Function, class Enqueue>
CUresult with_moment(CUstream stream, Function function, void* data, Function replacement,
                     Enqueue&& enqueue) {
  const ErrnoGuard guard;
  sluice::runtime::Runtime* runtime = flushed_runtime();
  if (runtime == nullptr || !runtime->checks_races() || function == nullptr) {
    return enqueue(function, data);
  }
  auto call = std::make_unique<HostCall<Function>>(
      HostCall<Function>{function, data, runtime->host_function_queued(stream)});
  const CUresult result = enqueue(replacement, call.get());
  if (result == CUDA_SUCCESS) std::ignore = call.release();
  return result;
}

}  // namespace

extern "C" CUresult sluice_wrap_cuStreamCreate(CUstream* stream, unsigned int flags) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuStreamCreate(stream, flags);
  if (result == CUDA_SUCCESS) tell(kind_of_stream(flags), *stream);
  return result;
}

extern "C" CUresult sluice_wrap_cuStreamCreateWithPriority(CUstream* stream, unsigned int flags,
                                                           int priority) {
  const ErrnoGuard guard;
  const CUresult result = driver().cuStreamCreateWithPriority(stream, flags, priority);
  if (result == CUDA_SUCCESS) tell(kind_of_stream(flags), *stream);
  return result;
}

// SLUICE_ORDERING(symbol, (parameters), (arguments), what it orders, stream, event)
#define SLUICE_ORDERING(symbol, parameters, arguments, kind, stream, event) \
  extern "C" CUresult sluice_wrap_##symbol parameters {                     \
    return ordering(Ordering::Kind::kind, stream, event,                    \
                    [&] { return driver().symbol arguments; });             \
  }
SLUICE_ORDERING(cuStreamDestroy_v2, (CUstream s), (s), stream_destroyed, s, nullptr)
SLUICE_ORDERING(cuStreamSynchronize, (CUstream s), (s), stream_done, s, nullptr)
SLUICE_ORDERING(cuStreamSynchronize_ptsz, (CUstream s), (s), stream_done, per_thread(s), nullptr)
SLUICE_ORDERING(cuStreamQuery, (CUstream s), (s), stream_done, s, nullptr)
SLUICE_ORDERING(cuStreamQuery_ptsz, (CUstream s), (s), stream_done, per_thread(s), nullptr)
SLUICE_ORDERING(cuStreamWaitEvent, (CUstream s, CUevent e, unsigned int flags), (s, e, flags),
                stream_waits, s, e)
SLUICE_ORDERING(cuStreamWaitEvent_ptsz, (CUstream s, CUevent e, unsigned int flags), (s, e, flags),
                stream_waits, per_thread(s), e)
SLUICE_ORDERING(cuEventRecord, (CUevent e, CUstream s), (e, s), event_recorded, s, e)
SLUICE_ORDERING(cuEventRecord_ptsz, (CUevent e, CUstream s), (e, s), event_recorded, per_thread(s),
                e)
SLUICE_ORDERING(cuEventRecordWithFlags, (CUevent e, CUstream s, unsigned int flags), (e, s, flags),
                event_recorded, s, e)
SLUICE_ORDERING(cuEventRecordWithFlags_ptsz, (CUevent e, CUstream s, unsigned int flags),
                (e, s, flags), event_recorded, per_thread(s), e)
SLUICE_ORDERING(cuEventSynchronize, (CUevent e), (e), event_done, nullptr, e)
SLUICE_ORDERING(cuEventQuery, (CUevent e), (e), event_done, nullptr, e)
SLUICE_ORDERING(cuEventDestroy_v2, (CUevent e), (e), event_destroyed, nullptr, e)
SLUICE_ORDERING(cuCtxSynchronize, (), (), device_done, nullptr, nullptr)
#undef SLUICE_ORDERING

extern "C" CUresult sluice_wrap_cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return with_moment(stream, function, data, &run_host_function, [&](CUhostFn run, void* with) {
    return driver().cuLaunchHostFunc(stream, run, with);
  });
}

extern "C" CUresult sluice_wrap_cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function,
                                                      void* data) {
  return with_moment(
      per_thread(stream), function, data, &run_host_function,
      [&](CUhostFn run, void* with) { return driver().cuLaunchHostFunc_ptsz(stream, run, with); });
}

extern "C" CUresult sluice_wrap_cuStreamAddCallback(CUstream stream, CUstreamCallback function,
                                                    void* data, unsigned int flags) {
  return with_moment(stream, function, data, &run_callback, [&](CUstreamCallback run, void* with) {
    return driver().cuStreamAddCallback(stream, run, with, flags);
  });
}

extern "C" CUresult sluice_wrap_cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback function,
                                                         void* data, unsigned int flags) {
  return with_moment(per_thread(stream), function, data, &run_callback,
                     [&](CUstreamCallback run, void* with) {
                       return driver().cuStreamAddCallback_ptsz(stream, run, with, flags);
                     });
}
