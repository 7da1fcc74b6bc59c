#include "hostcuda/driver/memory/call_site.hpp"

#include <algorithm>

#include <execinfo.h>

namespace sluice::hostcuda {

CallSite CallSite::of_this_call() {
  CallSite site;
  const int depth = backtrace(site.callers.data(), static_cast<int>(site.callers.size()));
  site.depth = static_cast<size_t>(std::max(depth, 0));
  return site;
}

}  // namespace sluice::hostcuda
