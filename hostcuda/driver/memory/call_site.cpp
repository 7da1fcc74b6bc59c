#include "hostcuda/driver/memory/call_site.hpp"

#include "base/thread/return_addresses.hpp"

namespace sluice::hostcuda {

CallSite CallSite::of_this_call() {
  CallSite site;
  site.depth = return_addresses(site.callers);
  return site;
}

}  // namespace sluice::hostcuda
