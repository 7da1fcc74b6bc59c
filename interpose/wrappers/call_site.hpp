// Where the program made the call that is being handled.
#pragma once

#include "base/thread/return_addresses.hpp"
#include "runtime/races/ordering.hpp"

namespace sluice::interpose {

// Only a check for races asks.
inline runtime::CallSite calling_site() {
  runtime::CallSite site;
  site.depth = return_addresses(site.callers);
  site.python = runtime::python_place();
  return site;
}

}  // namespace sluice::interpose
