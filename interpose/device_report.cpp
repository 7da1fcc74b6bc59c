#include "interpose/device_report.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/faults/call_site.hpp"

namespace sluice::interpose {

const void* device_table(const DriverCalls& calls, const unsigned char (&id)[16]) {
  CUuuid uuid = {};
  static_assert(sizeof id == sizeof uuid);
  std::memcpy(&uuid, id, sizeof uuid);
  const void* table = nullptr;
  if (calls.cuGetExportTable == nullptr || calls.cuGetExportTable(&table, &uuid) != CUDA_SUCCESS)
    return nullptr;
  return table;
}

std::string site_of(void* const* frames, uint64_t depth, const std::string& kernel) {
  runtime::CallSite site;
  site.depth = std::min<size_t>(depth, site.callers.size());
  std::copy_n(frames, site.depth, site.callers.begin());
  return runtime::site_text(site, kernel);
}

}  // namespace sluice::interpose
