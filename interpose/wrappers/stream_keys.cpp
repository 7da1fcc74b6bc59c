#include "interpose/wrappers/stream_keys.hpp"

#include <atomic>
#include <cstdint>

#include "interpose/shim.hpp"

namespace sluice::interpose {
namespace {

std::atomic<uint64_t> ends{0};  // of streams, perhaps

CUcontext current_context() {
  CUcontext context = nullptr;
  if (driver().cuCtxGetCurrent != nullptr) driver().cuCtxGetCurrent(&context);
  return context;
}

}  // namespace

void streams_may_end() {
  ends.fetch_add(1, std::memory_order_relaxed);
}

// The driver is asked each time for the current context, since a runtime below the program may
// change it by functions that nobody sees. A stream's own stays what it is.
StreamKey key_of(CUstream stream) {
  if (Shim::get().runtime() == nullptr) return {};
  if (stream == CU_STREAM_LEGACY) stream = nullptr;
  StreamKey key{nullptr, stream};
  if (key.is_default() || driver().cuStreamGetCtx == nullptr) {
    key.context = current_context();
    return key;
  }
  struct Known {
    StreamKey key;
    uint64_t ends;
  };
  static thread_local constinit Known last{{}, 0};
  const uint64_t now = ends.load(std::memory_order_relaxed);
  if (last.key.handle == stream && last.ends == now) return last.key;
  CUcontext context = nullptr;
  if (driver().cuStreamGetCtx(stream, &context) != CUDA_SUCCESS) {
    key.context = current_context();  // the driver will say that it is no stream
    return key;
  }
  key.context = context;
  last = {key, now};
  return key;
}

}  // namespace sluice::interpose
