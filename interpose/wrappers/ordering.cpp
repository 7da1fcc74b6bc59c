// Calls that order streams, events and the host. They close the windows and go to the driver; a
// check for races is told of those that succeed.
#include <memory>
#include <utility>

#include "interpose/wrappers/wrappers.hpp"

using namespace sluice::interpose;
using sluice::runtime::StreamClocks;

namespace {

template <class Call, class... Taken, class... Given>
CUresult ordering(Call&& call, void (StreamClocks::*what)(Taken...), Given... given) {
  const ErrnoGuard guard;
  flushed_runtime();
  const CUresult result = call();
  if (result == CUDA_SUCCESS) tell_races(what, given...);
  return result;
}

CUresult note_stream(CUresult result, const CUstream* stream, unsigned int flags) {
  const bool is_non_blocking = (flags & CU_STREAM_NON_BLOCKING) != 0;
  if (result == CUDA_SUCCESS) tell_races(&StreamClocks::created, *stream, is_non_blocking);
  return result;
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
  if (races() != nullptr) races()->host_function_began(call->moment);
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
  flushed_runtime();
  if (races() == nullptr || function == nullptr) return enqueue(function, data);
  auto call = std::make_unique<HostCall<Function>>(
      HostCall<Function>{function, data, races()->host_function_queued(stream)});
  const CUresult result = enqueue(replacement, call.get());
  if (result == CUDA_SUCCESS) std::ignore = call.release();
  return result;
}

}  // namespace

SLUICE_NOTED(cuStreamCreate, (CUstream * stream, unsigned int flags), (stream, flags), note_stream,
             stream, flags)
SLUICE_NOTED(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority),
             (stream, flags, priority), note_stream, stream, flags)

// SLUICE_ORDERING(symbol, (parameters), (arguments), what the clocks are told, ...)
#define SLUICE_ORDERING(symbol, parameters, arguments, ...)                                 \
  extern "C" CUresult sluice_wrap_##symbol parameters {                                     \
    return ordering([&] { return driver().symbol arguments; }, &StreamClocks::__VA_ARGS__); \
  }
SLUICE_ORDERING(cuStreamDestroy_v2, (CUstream s), (s), destroyed, s)
SLUICE_ORDERING(cuStreamSynchronize, (CUstream s), (s), stream_done, s)
SLUICE_ORDERING(cuStreamQuery, (CUstream s), (s), stream_done, s)
SLUICE_ORDERING(cuStreamWaitEvent, (CUstream s, CUevent e, unsigned int flags), (s, e, flags),
                stream_waits, s, e)
SLUICE_ORDERING(cuEventRecord, (CUevent e, CUstream s), (e, s), event_recorded, e, s)
SLUICE_ORDERING(cuEventRecordWithFlags, (CUevent e, CUstream s, unsigned int flags), (e, s, flags),
                event_recorded, e, s)
SLUICE_ORDERING(cuEventSynchronize, (CUevent e), (e), event_done, e)
SLUICE_ORDERING(cuEventQuery, (CUevent e), (e), event_done, e)
SLUICE_ORDERING(cuEventDestroy_v2, (CUevent e), (e), event_destroyed, e)
SLUICE_ORDERING(cuCtxSynchronize, (), (), device_done)
#undef SLUICE_ORDERING

extern "C" CUresult sluice_wrap_cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return with_moment(stream, function, data, &run_host_function, [&](CUhostFn run, void* with) {
    return driver().cuLaunchHostFunc(stream, run, with);
  });
}

extern "C" CUresult sluice_wrap_cuStreamAddCallback(CUstream stream, CUstreamCallback function,
                                                    void* data, unsigned int flags) {
  return with_moment(stream, function, data, &run_callback, [&](CUstreamCallback run, void* with) {
    return driver().cuStreamAddCallback(stream, run, with, flags);
  });
}
