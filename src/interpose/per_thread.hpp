// Streams of the driver functions whose names end in _ptsz and _ptds.
#pragma once

#include <cuda.h>

namespace sluice::interpose {

// per_thread() is the stream that such a function means: its default stream is the calling
// thread's own.
inline CUstream per_thread(CUstream stream) {
  return stream == nullptr ? CU_STREAM_PER_THREAD : stream;
}

}  // namespace sluice::interpose
