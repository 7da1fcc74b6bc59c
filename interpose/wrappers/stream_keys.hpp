// Which stream a call means.
#pragma once

#include <cuda.h>

#include "megakernel/stream_key.hpp"

namespace sluice::interpose {

// key_of() names a stream of the calling thread: a default one by the current context, any other by
// its own. Nothing where there is no runtime to tell. Thread-safe.
StreamKey key_of(CUstream stream);

// streams_may_end() says that a stream's handle may be another one's from now on. Thread-safe.
void streams_may_end();

}  // namespace sluice::interpose
