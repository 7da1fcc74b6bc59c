// What a call may see of the device's work.
#pragma once

#include <variant>

namespace sluice::runtime {

// Observed is all of it, or what an event (CUevent) or the last work of a stream comes after.
struct Everything {};
struct BeforeEvent {
  void* event = nullptr;
};
struct OfStream {
  void* stream = nullptr;
};
using Observed = std::variant<Everything, BeforeEvent, OfStream>;

}  // namespace sluice::runtime
