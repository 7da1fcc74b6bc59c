// What is understood of a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "dro/types.hpp"
#include "runtime/device.hpp"
#include "runtime/launch/arguments.hpp"
#include "runtime/launch/footprint_cache.hpp"
#include "runtime/window.hpp"

namespace sluice::runtime {

struct Function;
struct Kernel;

// BoundFootprint says which bytes of which buffers are touched.
struct BoundFootprint {
  const CachedFootprint* footprint = nullptr;
  std::vector<dro::BoundArgument> arguments;
  std::vector<TouchedBuffer> touched;
  dro::KnownLaunch known;  // the tracker's
};

// KernelCall is what a kernel's launch has beside the bytes that it touches.
struct KernelCall {
  const LaunchCall* call = nullptr;
  Function* function = nullptr;
  std::span<const std::byte> parameters;
  std::span<const BoundPointer> pointers;  // one for each slot, where an observer wants them
};

// Known is a launch whose bytes are known. What it refers to is good until the next one is read.
struct Known {
  dro::LaunchNumber number = 0;
  int64_t called = 0;  // when the program made it, by the policy's clock; 0: nobody asks
  BoundFootprint* bound = nullptr;
  KernelCall kernel;
};

// Reason is why a launch is not known, in words for the journal.
struct Reason {
  Kernel* kernel = nullptr;                         // null: nobody knows which
  const char* text = "";                            // good until the next launch is read
  std::optional<analysis::Widening> widening = {};  // where the analysis is why
};
// NotYet is for now: a later launch of the same may be known. Never is for good.
struct NotYet : Reason {};
struct Never : Reason {};

using Understood = std::variant<Known, NotYet, Never>;

// reason_of() is why a launch is not known; null where it is.
inline const Reason* reason_of(const Understood& launch) {
  if (const auto* never = std::get_if<Never>(&launch)) return never;
  return std::get_if<NotYet>(&launch);
}

}  // namespace sluice::runtime
