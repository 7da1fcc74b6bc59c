// What a call may see of the device's work.
#pragma once

#include <variant>

#include "megakernel/stream_key.hpp"

namespace sluice::runtime {

// Observed is all of it, as at the end of a context, whose handle may be another one's afterwards,
// or what an event (CUevent) or the last work of a stream comes after.
struct Everything {};
struct EndOfContext {};
struct BeforeEvent {
  void* event = nullptr;
};
struct OfStream {
  StreamKey stream;
};
using Observed = std::variant<Everything, BeforeEvent, OfStream, EndOfContext>;

}  // namespace sluice::runtime
