#include "hostcuda/driver/api/window_order.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/api/event_promise.hpp"
#include "hostcuda/driver/graph/capture.hpp"
#include "hostcuda/driver/stream/joined_work.hpp"
#include "hostcuda/driver/stream/operation.hpp"

namespace sluice::hostcuda {
namespace {

// Line is a queue of functions that stand in no stream.
using Line = std::shared_ptr<StreamQueue>;

CUresult find_queues(Driver& driver, std::span<void* const> streams, std::vector<Line>& queues) {
  queues.reserve(streams.size());
  for (void* handle : streams) {
    const StreamRef stream = driver.find_stream(static_cast<CUstream>(handle));
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (is_captured(stream)) return CUDA_ERROR_NOT_PERMITTED;
    queues.push_back(stream->queue);
  }
  return CUDA_SUCCESS;
}

}  // namespace

int ends_by_itself(void* handle) {
  Driver* driver = Driver::get();
  if (driver == nullptr || driver->engine.held().is_watched()) return 0;
  const bool is_default =
      reinterpret_cast<uintptr_t>(handle) <= reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD);
  const StreamRef stream =
      is_default ? nullptr : driver->find_stream(static_cast<CUstream>(handle));
  if (stream == nullptr || is_captured(stream)) return 0;
  return JoinedWork(driver->engine).ends_by_itself(stream->queue) ? 1 : 0;
}

void* make_line() {
  void* line = nullptr;
  guarded([&] {
    line = new Line(make_queue(QueueKind::non_blocking, least_stream_priority));
    return CUDA_SUCCESS;
  });
  return line;
}

int run_together(void* line, void* const* streams, uint64_t count, void (*function)(void* data),
                 void* data, void** promises) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    if (driver.engine.held().is_watched()) return CUDA_ERROR_NOT_PERMITTED;
    std::vector<Line> queues;
    if (const CUresult result = find_queues(driver, {streams, count}, queues);
        result != CUDA_SUCCESS) {
      return result;
    }
    const Line& own = *static_cast<const Line*>(line);
    std::vector<std::unique_ptr<EventPromise>> made;
    std::vector<JoinedWork::Part> parts;
    for (uint64_t i = 0; i < count; ++i) {
      made.push_back(
          std::make_unique<EventPromise>(EventPromise{driver, nullptr, StreamOrder::promise(own)}));
      promises[i] = made.back().get();
      parts.push_back({std::move(queues[i]), made.back()->ticket});
    }
    try {
      JoinedWork(driver.engine)
          .submit(own, std::make_shared<const BlocksOperation>(context, function, data), parts);
    } catch (...) {
      // Without the function nobody else would let the streams go on that have their part already.
      for (const JoinedWork::Part& part : parts)
        driver.engine.keep(part.end);
      throw;
    }
    for (std::unique_ptr<EventPromise>& promise : made)
      static_cast<void>(promise.release());
    return CUDA_SUCCESS;
  });
}

int is_busy(void* handle) {
  bool busy = false;
  static_cast<void>(with_stream(static_cast<CUstream>(handle),
                                [&](Driver& driver, Context&, const StreamRef& stream) -> CUresult {
                                  busy = !all_done(driver.engine.before(stream->queue));
                                  return CUDA_SUCCESS;
                                }));
  return busy ? 1 : 0;
}

}  // namespace sluice::hostcuda
