// The driver's names of default streams; null is the legacy one too.
#pragma once

namespace sluice::runtime {

inline void* const legacy_stream = reinterpret_cast<void*>(1);  // CU_STREAM_LEGACY
// CU_STREAM_PER_THREAD names another stream in every thread.
inline void* const per_thread_stream = reinterpret_cast<void*>(2);

}  // namespace sluice::runtime
