// What the shim tells of calls that order work or move bytes, where races are checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::runtime {

// VectorClock holds, for each stream by its number, how many of its actions came before.
using VectorClock = std::vector<uint64_t>;

// CallSite is where the program made a call: return addresses, the innermost first.
struct CallSite {
  std::array<void*, 16> callers{};
  size_t depth = 0;
};

// Ordering is one such call that has succeeded. Handles are the driver's.
struct Ordering {
  enum class Kind {
    event_recorded,  // event, stream
    event_destroyed,
    stream_waits,  // stream, event
    event_done,    // the host has seen it: synchronise, or query that says so
    stream_done,
    device_done,
    blocking_stream_created,
    non_blocking_stream_created,
    stream_destroyed,
  };
  Kind kind = Kind::device_done;
  void* stream = nullptr;
  void* event = nullptr;
};

// CopyCall is a copy (`from` is 0 where the source is no device memory) or a memset.
struct CopyCall {
  const char* function = "";
  uint64_t to = 0;
  uint64_t from = 0;
  uint64_t bytes = 0;
  void* stream = nullptr;
  bool host_waits = false;  // the call returns when it is done
  const CallSite* site = nullptr;
};

}  // namespace sluice::runtime
