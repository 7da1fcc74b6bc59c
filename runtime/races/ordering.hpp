// What the shim tells of its callers and of calls that move bytes, where races are checked.
#pragma once

#include <cstdint>
#include <vector>

#include "megakernel/stream_key.hpp"
#include "runtime/calls/call_site.hpp"

namespace sluice::runtime {

// VectorClock holds, for each stream by its number, how many of its actions came before.
using VectorClock = std::vector<uint64_t>;

// CopyCall is a copy (`from` is 0 where the source is no device memory) or a memset.
struct CopyCall {
  const char* function = "";
  uint64_t to = 0;
  uint64_t from = 0;
  uint64_t bytes = 0;
  StreamKey stream;
  bool host_waits = false;  // the call returns when it is done
  const CallSite* site = nullptr;
};

}  // namespace sluice::runtime
