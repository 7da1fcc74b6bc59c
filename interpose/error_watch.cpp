#include "interpose/error_watch.hpp"

#include <string>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "hostcuda/ignored_error.h"
#include "interpose/device_report.hpp"

namespace sluice::interpose {
namespace {

DeviceReport* report = nullptr;  // leaked, as the others

runtime::Fault ignored_error(const SluiceIgnoredError& error) {
  const std::string kernel = error.kernel != nullptr ? error.kernel : "";
  runtime::Fault fault;
  fault.kind = "errors";
  fault.rule = "ignored-error";
  fault.kernel = kernel.empty() ? error.function : short_name(kernel);
  fault.site = site_of(error.site, error.site_depth, kernel);
  fault.message =
      fmt::format("ignored error: {} failed, {}, and nobody asked for the error:",
                  kernel.empty() ? error.function : "a launch of " + fault.kernel, error.error);
  fault.details.push_back(fmt::format("called from {}", fault.site));
  return fault;
}

const SluiceIgnoredErrorTable* error_table(const DriverCalls& calls) {
  constexpr unsigned char id[] = SLUICE_IGNORED_ERROR_TABLE_UUID;
  return static_cast<const SluiceIgnoredErrorTable*>(device_table(calls, id));
}

}  // namespace

void watch_errors(const DriverCalls& calls, const runtime::Config& config) {
  const SluiceIgnoredErrorTable* table = error_table(calls);
  if (table != nullptr && table->watch_errors() == 0) report = new DeviceReport(config);
}

void tell_ignored_errors(const DriverCalls& calls) {
  if (report == nullptr) return;
  error_table(calls)->tell_ignored(&DeviceReport::hear<SluiceIgnoredError, ignored_error>, report);
}

}  // namespace sluice::interpose
