#include "hostcuda/driver/stream/stream.hpp"

#include "hostcuda/driver/stream/stream_queue.hpp"

namespace sluice::hostcuda {
namespace {

thread_local bool zero_is_per_thread = false;

// Exit handlers may still use the device after a thread's objects are gone: they get a new stream.
thread_local StreamRef* thread_stream = nullptr;
struct ThreadStreamEnd {
  ~ThreadStreamEnd() {
    delete thread_stream;
    thread_stream = nullptr;
  }
};

}  // namespace

DefaultStreamScope::DefaultStreamScope() : before_(std::exchange(zero_is_per_thread, true)) {}

DefaultStreamScope::~DefaultStreamScope() {
  zero_is_per_thread = before_;
}

bool DefaultStreamScope::is_per_thread() {
  return zero_is_per_thread;
}

StreamRef stream_of_this_thread() {
  if (thread_stream == nullptr) {
    static thread_local ThreadStreamEnd end;
    auto stream = std::make_shared<Stream>();
    stream->id = reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD);
    stream->queue = make_queue(QueueKind::blocking, least_stream_priority);
    thread_stream = new StreamRef(std::move(stream));
  }
  return *thread_stream;
}

}  // namespace sluice::hostcuda
