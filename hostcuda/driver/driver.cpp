#include "hostcuda/driver/driver.hpp"

#include <mutex>
#include <utility>

#include <pthread.h>

#include "base/assert.hpp"
#include "base/log.hpp"

namespace sluice::hostcuda {
namespace {

std::atomic<Driver*> the_driver{nullptr};
std::atomic<bool> is_forked_child{false};

[[noreturn]] void throw_assertion_failure(const char* condition, const char* file, int line) {
  throw AssertionFailure{condition, file, line};
}

}  // namespace

Driver::Driver()
    : properties(DeviceProperties::of_this_machine()),
      pool(properties.processors),
      engine(pool),
      memory(properties.memory_bytes),
      legacy_stream_(std::make_shared<Stream>()) {
  legacy_stream_->id = reinterpret_cast<uintptr_t>(CU_STREAM_LEGACY);
  legacy_stream_->queue = engine.legacy();
}

CUresult Driver::initialise() {
  if (is_forked_child.load()) return CUDA_ERROR_NOT_INITIALIZED;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (the_driver.load() != nullptr) return CUDA_SUCCESS;
  log::set_prefix("sluice cpu device");
  set_assertion_handler(throw_assertion_failure);
  pthread_atfork(nullptr, nullptr, [] { is_forked_child.store(true); });
  the_driver.store(new Driver);
  return CUDA_SUCCESS;
}

Driver* Driver::get() {
  return is_forked_child.load(std::memory_order_relaxed) ? nullptr : the_driver.load();
}

CUresult Driver::release_contents(Context& context) {
  const CUresult waited = wait_for_all();
  if (waited == CUDA_ERROR_NOT_PERMITTED) return waited;
  streams.remove_if([&](const Stream& stream) { return stream.context == &context; });
  events.remove_if([&](const Event& event) { return event.context() == &context; });
  const auto owned = modules.remove_if(
      [&](const LoadedCode& code) { return !code.is_library() && code.context() == &context; });
  for (const std::shared_ptr<LoadedCode>& code : owned)
    release_code(code);
  memory.release_owned_by(&context);
  // As in CUDA, a failed launch is over with its context.
  engine.clear_error();
  return CUDA_SUCCESS;
}

CUresult Driver::destroy_context(Context& context) {
  const CUresult released = release_contents(context);
  if (released == CUDA_SUCCESS) context.set_alive(false);
  return released;
}

CUresult Driver::release_primary_context() {
  bool last = false;
  const CUresult released = contexts.release_primary(&last);
  return last ? destroy_context(*contexts.primary()) : released;
}

CUresult Driver::reset_primary_context() {
  Context* primary = contexts.primary();
  if (primary == nullptr) return CUDA_SUCCESS;
  primary->reset_limits();
  return release_contents(*primary);
}

StreamRef Driver::find_stream(CUstream handle) const {
  if (handle == nullptr) {
    handle = DefaultStreamScope::is_per_thread() ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  }
  if (handle == CU_STREAM_LEGACY) return legacy_stream_;
  return handle == CU_STREAM_PER_THREAD ? stream_of_this_thread() : streams.find(handle);
}

CUresult Driver::when_all_done(std::function<void()> body) {
  std::vector<Ticket> before = engine.outstanding();
  if (within_work()) {
    engine.submit(make_queue(QueueKind::non_blocking, least_stream_priority),
                  std::make_shared<const FunctionWork>(std::move(body)), std::move(before));
    return CUDA_SUCCESS;
  }
  const CUresult waited = engine.wait(before);
  body();
  return waited;
}

CUresult Driver::release_code(const std::shared_ptr<LoadedCode>& code) {
  modules.remove(code->module());
  kernels.remove_if([&](Kernel& kernel) { return &kernel.code() == code.get(); });
  // Work that is still to run may need the code.
  return when_all_done([this, code] { memory.release_owned_by(code.get()); });
}

}  // namespace sluice::hostcuda
