#include "interpose/device_report.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "runtime/calls/call_site.hpp"

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

namespace {

runtime::CallSite site_from(void* const* frames, uint64_t depth) {
  runtime::CallSite site;
  site.depth = std::min<size_t>(depth, site.callers.size());
  std::copy_n(frames, site.depth, site.callers.begin());
  return site;
}

}  // namespace

std::string site_of(void* const* frames, uint64_t depth, const std::string& kernel) {
  return runtime::site_text(site_from(frames, depth), kernel);
}

std::string launch_site_of(void* const* frames, uint64_t depth, const std::string& kernel) {
  runtime::CallSite site = site_from(frames, depth);
  site.python = runtime::launched_at(kernel);
  return runtime::site_text(site, kernel);
}

std::string index_text(const uint32_t (&index)[3], const uint32_t (&extents)[3]) {
  if (extents[2] > 1) return fmt::format("({}, {}, {})", index[0], index[1], index[2]);
  if (extents[1] > 1) return fmt::format("({}, {})", index[0], index[1]);
  return fmt::format("({})", index[0]);
}

std::string code_place(const char* file, uint32_t line, uint32_t ptx_line) {
  if (file == nullptr) return fmt::format("PTX line {}", ptx_line);
  const std::string path = file;
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line);
}

std::string launch_text(const runtime::Fault& fault, const uint32_t (&grid)[3],
                        const uint32_t (&block)[3]) {
  return fmt::format("{} (grid {}x{}x{}, block {}x{}x{}), called from {}", fault.kernel, grid[0],
                     grid[1], grid[2], block[0], block[1], block[2], fault.site);
}

}  // namespace sluice::interpose
