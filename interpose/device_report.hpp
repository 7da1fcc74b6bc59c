// What the CPU device finds by itself, in the report that the checks name.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "interpose/driver/driver_calls.hpp"
#include "runtime/faults/fault_log.hpp"
#include "runtime/runtime.hpp"

namespace sluice::interpose {

// device_table() is a private table of the CPU device, null where the driver is another.
const void* device_table(const DriverCalls& calls, const unsigned char (&id)[16]);

// site_of() is the place in the program that return addresses tell of, the innermost first.
std::string site_of(void* const* frames, uint64_t depth, const std::string& kernel);
// launch_site_of() is that of a launch: in Python, where that is one place.
std::string launch_site_of(void* const* frames, uint64_t depth, const std::string& kernel);

// index_text() is "(3)", "(3, 1)": as many numbers as the extents have dimensions.
std::string index_text(const uint32_t (&index)[3], const uint32_t (&extents)[3]);
// code_place() is "bounds.cu:7", or "PTX line 30" where `file` is null.
std::string code_place(const char* file, uint32_t line, uint32_t ptx_line);
// launch_text() is "fill (grid 2x1x1, block 64x1x1), called from main in bounds".
std::string launch_text(const runtime::Fault& fault, const uint32_t (&grid)[3],
                        const uint32_t (&block)[3]);

// DeviceReport is a report of its own: the device tells on any thread, whatever lock it holds.
// Thread-safe.
class DeviceReport {
 public:
  explicit DeviceReport(const runtime::Config& config)
      : report_({.report = config.checks->report}, config.program) {}

  // hear() is what the device calls, with a report.
  template <class Told, runtime::Fault (*fault_of)(const Told&)>
  static void hear(void* report, const Told* told) {
    auto& self = *static_cast<DeviceReport*>(report);
    const runtime::Fault fault = fault_of(*told);
    const std::lock_guard lock(self.mutex_);
    self.report_.add(fault);
  }

 private:
  std::mutex mutex_;
  runtime::FaultLog report_;
};

}  // namespace sluice::interpose
