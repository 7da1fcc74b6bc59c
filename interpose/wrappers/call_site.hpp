// Where the program made the call that is being handled.
#pragma once

#include <execinfo.h>

#include "runtime/races/ordering.hpp"

namespace sluice::interpose {

// calling_site() walks the stack: some microseconds, so only a check for races asks.
inline runtime::CallSite calling_site() {
  runtime::CallSite site;
  const int depth = backtrace(site.callers.data(), static_cast<int>(site.callers.size()));
  site.depth = depth < 0 ? 0 : static_cast<size_t>(depth);
  site.python = runtime::python_place();
  return site;
}

}  // namespace sluice::interpose
