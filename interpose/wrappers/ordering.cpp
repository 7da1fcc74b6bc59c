// Calls that order streams, events and the host. They close the windows of what they may observe
// and go to the driver; a check for races is told of those that succeed. To record an event closes
// nothing.
#include <memory>
#include <utility>

#include "interpose/shim_device.hpp"
#include "interpose/wrappers/wrappers.hpp"

using namespace sluice::interpose;
using sluice::runtime::BeforeEvent;
using sluice::runtime::EventRecord;
using sluice::runtime::EventWait;
using sluice::runtime::HostFunction;
using sluice::runtime::OfStream;
using sluice::runtime::Runtime;
using sluice::runtime::StreamClocks;

namespace {

// flush() puts into its stream what the call may observe: what an event comes after, what a stream
// has, or all that is held back.
void flush(CUevent event) {
  if (Runtime* runtime = Shim::get().runtime()) runtime->flush(BeforeEvent{event});
}
void flush(CUstream stream) {
  if (Runtime* runtime = Shim::get().runtime()) runtime->flush(OfStream{key_of(stream)});
}
void flush() {
  flushed_runtime();
}
template <class... Observed>
void flush_all_of(Observed... observed) {
  (flush(observed), ...);
}

template <class Call, class... Taken, class... Given>
CUresult told(Call&& call, void (StreamClocks::*what)(Taken...), Given... given) {
  const CUresult result = call();
  if (result == CUDA_SUCCESS) tell_races(what, given...);
  return result;
}

// record() takes a record as a task where it can be one. Under a capture it may be a node.
template <class Call>
CUresult record(CUevent event, CUstream stream, Call&& call) {
  const KeepErrno keep;
  Runtime* runtime = Shim::get().runtime();
  if (runtime != nullptr && races() == nullptr && !is_capturing()) {
    if (runtime->take(EventRecord{event, key_of(stream)})) return CUDA_SUCCESS;
  } else {
    flush();
  }
  return told(call, &StreamClocks::event_recorded, event, stream);
}

CUresult elapsed(CUevent start, CUevent end, const auto& call) {
  const KeepErrno keep;
  flush_all_of(start, end);
  return told(call, &StreamClocks::device_done);
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
  if (races() != nullptr) sluice::runtime::host_function_began(*races(), call->moment);
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

// take_as_function() lets the runtime place what stands in a stream as a function of the program
// does; where it may not, all that is held goes to the device first.
void take_as_function(CUstream stream) {
  Runtime* const runtime = Shim::get().runtime();
  if (runtime != nullptr && races() == nullptr && !is_capturing()) {
    runtime->take(HostFunction{key_of(stream)});
  } else {
    flush();
  }
}

// with_moment() enqueues a host function behind what its stream has; in its place `replacement`
// where races are checked. One that is captured runs as often as its graph, and is left as it is.
template <class Function, class Enqueue>
CUresult with_moment(CUstream stream, Function function, void* data, Function replacement,
                     Enqueue&& enqueue) {
  const KeepErrno keep;
  take_as_function(stream);
  if (races() == nullptr || function == nullptr || is_capturing()) return enqueue(function, data);
  auto call = std::make_unique<HostCall<Function>>(HostCall<Function>{
      function, data, sluice::runtime::host_function_queued(*races(), key_of(stream))});
  const CUresult result = enqueue(replacement, call.get());
  if (result == CUDA_SUCCESS) std::ignore = call.release();
  return result;
}

// with_words() is for words of memory that a stream writes or waits for: to the runtime they are a
// function of the program, since a wait may end by what the host does. How they order streams a
// check for races does not know: so that it reports none that is none, they order everything.
template <class Call>
CUresult with_words(CUstream stream, bool writes, Call&& call) {
  const KeepErrno keep;
  take_as_function(stream);
  if (races() != nullptr && writes) sluice::runtime::tell_unknown_call(*races());
  tell_races(&StreamClocks::device_done);
  return call();
}

}  // namespace

SLUICE_NOTED(cuStreamCreate, (CUstream * stream, unsigned int flags), (stream, flags), note_stream,
             stream, flags)
SLUICE_NOTED(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority),
             (stream, flags, priority), note_stream, stream, flags)

// SLUICE_ORDERING(symbol, (parameters), (arguments), flush what, what the clocks are told, ...)
#define SLUICE_ORDERING(symbol, parameters, arguments, flush_what, ...)                 \
  extern "C" CUresult sluice_wrap_##symbol parameters {                                 \
    const KeepErrno keep;                                                               \
    flush_what;                                                                         \
    return told([&] { return driver().symbol arguments; }, &StreamClocks::__VA_ARGS__); \
  }
SLUICE_ORDERING(cuStreamSynchronize, (CUstream s), (s), flush(s), stream_done, s)
SLUICE_ORDERING(cuStreamQuery, (CUstream s), (s), flush(s), stream_done, s)
SLUICE_ORDERING(cuEventSynchronize, (CUevent e), (e), flush(e), event_done, e)
SLUICE_ORDERING(cuEventQuery, (CUevent e), (e), flush(e), event_done, e)
// What is left of a record goes on without its handle.
SLUICE_ORDERING(cuEventDestroy_v2, (CUevent e), (e), , event_destroyed, e)
SLUICE_ORDERING(cuCtxSynchronize, (), (), flush(), device_done)
#undef SLUICE_ORDERING

// SLUICE_STREAM_END(symbol): the stream is named while there is one.
#define SLUICE_STREAM_END(symbol)                                      \
  extern "C" CUresult sluice_wrap_##symbol(CUstream stream) {          \
    const KeepErrno keep;                                              \
    flush();                                                           \
    const sluice::StreamKey key = key_of(stream);                      \
    const auto call = [&] { return driver().symbol(stream); };         \
    const CUresult result = told(call, &StreamClocks::destroyed, key); \
    streams_may_end();                                                 \
    return result;                                                     \
  }
SLUICE_STREAM_END(cuStreamDestroy)
SLUICE_STREAM_END(cuStreamDestroy_v2)
#undef SLUICE_STREAM_END

extern "C" CUresult sluice_wrap_cuStreamWaitEvent(CUstream stream, CUevent event,
                                                  unsigned int flags) {
  const KeepErrno keep;
  Runtime* runtime = Shim::get().runtime();
  const bool may_be_task =
      runtime != nullptr && races() == nullptr && !is_capturing() && flags == CU_EVENT_WAIT_DEFAULT;
  if (!may_be_task) {
    flush_all_of(stream, event);
  } else if (runtime->take(EventWait{event, key_of(stream)})) {
    return CUDA_SUCCESS;
  }
  return told([&] { return driver().cuStreamWaitEvent(stream, event, flags); },
              &StreamClocks::stream_waits, stream, event);
}

extern "C" CUresult sluice_wrap_cuEventRecord(CUevent event, CUstream stream) {
  return record(event, stream, [&] { return driver().cuEventRecord(event, stream); });
}

extern "C" CUresult sluice_wrap_cuEventRecordWithFlags(CUevent event, CUstream stream,
                                                       unsigned int flags) {
  const auto call = [&] { return driver().cuEventRecordWithFlags(event, stream, flags); };
  if (flags == CU_EVENT_RECORD_DEFAULT) return record(event, stream, call);
  const KeepErrno keep;
  flush();
  return told(call, &StreamClocks::event_recorded, event, stream);
}

extern "C" CUresult sluice_wrap_cuEventElapsedTime(float* milliseconds, CUevent start,
                                                   CUevent end) {
  return elapsed(start, end, [&] { return driver().cuEventElapsedTime(milliseconds, start, end); });
}

extern "C" CUresult sluice_wrap_cuEventElapsedTime_v2(float* milliseconds, CUevent start,
                                                      CUevent end) {
  return elapsed(start, end,
                 [&] { return driver().cuEventElapsedTime_v2(milliseconds, start, end); });
}

bool sluice::interpose::is_done(const DriverCalls& driver, CUevent event) {
  return driver.cuEventQuery(event) == CUDA_SUCCESS;
}

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

// SLUICE_WORD(symbol, Value, writes)
#define SLUICE_WORD(symbol, Value, writes)                                                    \
  extern "C" CUresult sluice_wrap_##symbol(CUstream stream, CUdeviceptr address, Value value, \
                                           unsigned int flags) {                              \
    return with_words(stream, writes,                                                         \
                      [&] { return driver().symbol(stream, address, value, flags); });        \
  }
SLUICE_WORD(cuStreamWaitValue32, cuuint32_t, false)
SLUICE_WORD(cuStreamWaitValue32_v2, cuuint32_t, false)
SLUICE_WORD(cuStreamWaitValue64, cuuint64_t, false)
SLUICE_WORD(cuStreamWaitValue64_v2, cuuint64_t, false)
SLUICE_WORD(cuStreamWriteValue32, cuuint32_t, true)
SLUICE_WORD(cuStreamWriteValue32_v2, cuuint32_t, true)
SLUICE_WORD(cuStreamWriteValue64, cuuint64_t, true)
SLUICE_WORD(cuStreamWriteValue64_v2, cuuint64_t, true)
#undef SLUICE_WORD

#define SLUICE_WORDS(symbol)                                                              \
  extern "C" CUresult sluice_wrap_##symbol(CUstream stream, unsigned int count,           \
                                           CUstreamBatchMemOpParams* operations,          \
                                           unsigned int flags) {                          \
    return with_words(stream, true,                                                       \
                      [&] { return driver().symbol(stream, count, operations, flags); }); \
  }
SLUICE_WORDS(cuStreamBatchMemOp)
SLUICE_WORDS(cuStreamBatchMemOp_v2)
#undef SLUICE_WORDS
