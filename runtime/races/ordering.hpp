// What the shim tells of its callers, and of calls that order work or move bytes, where races are
// checked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "megakernel/stream_key.hpp"
#include "runtime/calls/call_site.hpp"

namespace sluice::runtime {

class RaceObserver;
class StreamClocks;

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

// The functions of RaceObserver that the shim calls, for who need not know the rest of it.
void tell_clocks(RaceObserver& races, const std::function<void(StreamClocks&)>& call);
void tell_copied(RaceObserver& races, const CopyCall& call);
void tell_perhaps_written(RaceObserver& races, uint64_t address, uint64_t bytes);
void tell_unknown_call(RaceObserver& races);
std::shared_ptr<const VectorClock> host_function_queued(RaceObserver& races,
                                                        const StreamKey& stream);
void host_function_began(RaceObserver& races, const std::shared_ptr<const VectorClock>& moment);

}  // namespace sluice::runtime
