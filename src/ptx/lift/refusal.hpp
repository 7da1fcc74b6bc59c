// How the lifter gives up: an exception that never leaves lift().
#pragma once

#include "base/result.hpp"

namespace sluice::ptx::lift_detail {

// Refusal carries the error that lift() returns. Lifting is a deep recursion that stops at the
// first error, and no LLVM frame lies between a throw and its catch.
struct Refusal {
  Error error;
};

}  // namespace sluice::ptx::lift_detail
