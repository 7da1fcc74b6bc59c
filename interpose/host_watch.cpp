#include "interpose/host_watch.hpp"

#include <string>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "base/log.hpp"
#include "hostcuda/host_touch.h"
#include "interpose/device_report.hpp"

namespace sluice::interpose {
namespace {

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

}  // namespace

void watch_host(const DriverCalls& calls, const runtime::Config& config) {
  constexpr unsigned char id[] = SLUICE_HOST_TOUCH_TABLE_UUID;
  const auto* table = static_cast<const SluiceHostTouchTable*>(device_table(calls, id));
  // Leaked: the device tells until the process is gone.
  if (table == nullptr || table->watch_host(&DeviceReport::hear<SluiceHostTouch, host_race>,
                                            new DeviceReport(config)) != 0)
    log::warning("this device does not see accesses of the host: they are not looked at");
}

}  // namespace sluice::interpose
