// How the lifter gives up: an exception that never leaves lift().
#pragma once

#include "base/result.hpp"

namespace sluice::ptx::lift_detail {

// Refusal carries the error that lift() returns. Lifting is a deep recursion that stops at the
// first error, and no LLVM frame lies between a throw and its catch.
struct Refusal {
  Error error;
};

// refuse() takes what the makers of errors give: `refuse(unsupported("...", place))`.
[[noreturn]] inline void refuse(tl::unexpected<Error> error) {
  throw Refusal{std::move(error.value())};
}

}  // namespace sluice::ptx::lift_detail
