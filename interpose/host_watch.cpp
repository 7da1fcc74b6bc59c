#include "interpose/host_watch.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "base/log.hpp"
#include "hostcuda/host_touch.h"
#include "runtime/faults/call_site.hpp"
#include "runtime/faults/fault_report.hpp"

namespace sluice::interpose {
namespace {

std::string site_of(void* const* frames, uint64_t depth, const std::string& kernel) {
  runtime::CallSite site;
  site.depth = std::min<size_t>(depth, site.callers.size());
  std::copy_n(frames, site.depth, site.callers.begin());
  return runtime::site_text(site, kernel);
}

std::string in_place(const std::string& site) {
  return site.empty() ? std::string() : fmt::format(", in {}", site);
}

runtime::Fault host_race(const SluiceHostTouch& touch) {
  const std::string work = short_name(touch.work);
  const std::string submitted = site_of(touch.work_site, touch.work_site_depth, touch.work);
  const std::string touched = site_of(touch.site, touch.site_depth, touch.work);
  runtime::Fault fault;
  fault.kind = "host";
  fault.rule = "race-with-host";
  fault.kernel = work;
  fault.message = fmt::format(
      "race: byte {} of {} memory ({} bytes): the host {} it, and {} may still {} it:",
      touch.offset, touch.memory, touch.bytes, touch.host_writes != 0 ? "writes" : "reads", work,
      touch.work_writes != 0 ? "write" : "read");
  fault.details.push_back(fmt::format("{}, called from {}", work, submitted));
  fault.details.push_back(
      touch.site_depth == 0
          ? "the host, somewhere between that call and the first that waits for it"
          : fmt::format("the host{}, which nothing has told that it is done", in_place(touched)));
  fault.site = touched.empty() ? submitted : touched;
  return fault;
}

// HostReport is a report of its own: a touch may come from any thread, whatever lock it holds.
class HostReport {
 public:
  explicit HostReport(const runtime::Config& config) : report_(*config.checks, config.program) {}

  static void hear(void* report, const SluiceHostTouch* touch) {
    auto& self = *static_cast<HostReport*>(report);
    const runtime::Fault fault = host_race(*touch);
    const std::lock_guard lock(self.mutex_);
    self.report_.add(fault);
  }

 private:
  std::mutex mutex_;
  runtime::FaultReport report_;
};

const SluiceHostTouchTable* table_of(const DriverCalls& calls) {
  constexpr unsigned char bytes[] = SLUICE_HOST_TOUCH_TABLE_UUID;
  CUuuid uuid = {};
  static_assert(sizeof bytes == sizeof uuid);
  std::memcpy(&uuid, bytes, sizeof uuid);
  const void* table = nullptr;
  if (calls.cuGetExportTable == nullptr || calls.cuGetExportTable(&table, &uuid) != CUDA_SUCCESS)
    return nullptr;
  return static_cast<const SluiceHostTouchTable*>(table);
}

}  // namespace

void watch_host(const DriverCalls& calls, const runtime::Config& config) {
  const SluiceHostTouchTable* table = table_of(calls);
  // Leaked: the device tells until the process is gone.
  if (table == nullptr || table->watch_host(&HostReport::hear, new HostReport(config)) != 0)
    log::warning("this device does not see accesses of the host: they are not looked at");
}

}  // namespace sluice::interpose
