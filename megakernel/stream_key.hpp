// A stream by the context that it belongs to and its handle.
#pragma once

#include <cstddef>

#include "base/hash.hpp"

namespace sluice {

// StreamKey names a stream of the driver. What made it knows the stream's own context, so that one
// stream has one key, whichever context is current. Null stands for the legacy default stream of
// its context, by either of that one's handles.
struct StreamKey {
  void* context = nullptr;  // CUcontext; null: there is none, or it is not known
  void* handle = nullptr;   // CUstream

  // The handle of each thread's own default stream (CU_STREAM_PER_THREAD).
  static inline void* const per_thread = reinterpret_cast<void*>(2);

  bool is_legacy() const { return handle == nullptr; }
  bool is_per_thread() const { return handle == per_thread; }
  bool is_default() const { return is_legacy() || is_per_thread(); }

  friend bool operator==(const StreamKey&, const StreamKey&) = default;
};

struct StreamKeyHash {
  size_t operator()(const StreamKey& stream) const {
    return hash_of(stream.context, stream.handle);
  }
};

}  // namespace sluice
