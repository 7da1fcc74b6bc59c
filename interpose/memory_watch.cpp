#include "interpose/memory_watch.hpp"

#include <string>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "base/log.hpp"
#include "hostcuda/memory_fault.h"
#include "interpose/device_report.hpp"

namespace sluice::interpose {
namespace {

const char* rule_of(uint32_t what) {
  switch (what) {
    case SLUICE_MEMORY_FREED:
      return "use-after-free";
    case SLUICE_MEMORY_MISALIGNED:
      return "misaligned";
    case SLUICE_MEMORY_DOUBLE_FREE:
      return "double-free";
    case SLUICE_MEMORY_WRONG_FREE:
      return "wrong-free";
    case SLUICE_MEMORY_LEAK:
      return "leak";
    case SLUICE_MEMORY_NEVER_WRITTEN:
      return "uninitialised-read";
    default:
      return "out-of-bounds";
  }
}

std::string memory_of(const SluiceMemoryFault& told) {
  return told.name != nullptr ? fmt::format("variable {}", told.name) : told.memory;
}

std::string bytes_of(const SluiceMemoryFault& told) {
  if (told.memory == nullptr) return fmt::format("at address {:#x}", told.first_byte);
  if (told.first_byte < 0)
    return fmt::format("bytes up to {} before {}", -told.first_byte, memory_of(told));
  return fmt::format("bytes {} to {} of {}", told.first_byte, told.last_byte, memory_of(told));
}

std::string access_message(const runtime::Fault& fault, const SluiceMemoryFault& told) {
  const bool only_reads = told.access.writes == 0 || told.what == SLUICE_MEMORY_NEVER_WRITTEN;
  const char* verb = only_reads ? "reads" : told.access.reads != 0 ? "updates" : "writes";
  const std::string did = fmt::format("{} {} {}", fault.kernel, verb, bytes_of(told));
  switch (told.what) {
    case SLUICE_MEMORY_FREED:
      return fmt::format("use after free: {}, of {} bytes, which is freed:", did,
                         told.memory_bytes);
    case SLUICE_MEMORY_MISALIGNED:
      return fmt::format("misaligned: {}, which must begin at a multiple of {}:", did,
                         told.access.alignment);
    case SLUICE_MEMORY_NEVER_WRITTEN:
      return fmt::format("never written: {} ({} bytes):", did, told.memory_bytes);
    default:
      return told.memory == nullptr
                 ? fmt::format("out of bounds: {}, where no memory is:", did)
                 : fmt::format("out of bounds: {}, which has {}:", did, told.memory_bytes);
  }
}

std::string free_message(const SluiceMemoryFault& told) {
  if (told.memory == nullptr)
    return "wrong free: of what no call has allocated, or has been freed long ago:";
  const std::string memory = fmt::format("{} of {} bytes", memory_of(told), told.memory_bytes);
  if (told.what == SLUICE_MEMORY_LEAK) return fmt::format("leak: {}, never freed:", memory);
  if (told.what == SLUICE_MEMORY_DOUBLE_FREE) return fmt::format("double free: {}:", memory);
  return fmt::format("wrong free: of byte {} of {}:", told.first_byte, memory);
}

runtime::Fault memory_fault(const SluiceMemoryFault& told) {
  const auto site = [&](const SluiceCallSite& of) {
    return site_of(of.callers, of.depth, told.access.kernel != nullptr ? told.access.kernel : "");
  };
  runtime::Fault fault;
  fault.kind = told.what == SLUICE_MEMORY_NEVER_WRITTEN ? "init" : "memory";
  fault.rule = rule_of(told.what);
  fault.site = told.access.kernel == nullptr
                   ? site(told.site)
                   : launch_site_of(told.site.callers, told.site.depth, told.access.kernel);
  if (told.access.kernel != nullptr) {
    fault.kernel = short_name(told.access.kernel);
    fault.message = access_message(fault, told);
    fault.details.push_back(launch_text(fault, told.access.grid, told.access.block_size));
    fault.details.push_back(
        fmt::format("block {}, thread {} is the first to, at {}",
                    index_text(told.access.block, told.access.grid),
                    index_text(told.access.thread, told.access.block_size),
                    code_place(told.access.file, told.access.line, told.access.ptx_line)));
  } else {
    fault.message = free_message(told);
    if (told.what != SLUICE_MEMORY_LEAK)
      fault.details.push_back(fmt::format("freed in {}", fault.site));
  }
  if (told.allocated.depth != 0)
    fault.details.push_back(fmt::format("the memory was allocated in {}", site(told.allocated)));
  if (told.freed.depth != 0)
    fault.details.push_back(fmt::format("and freed in {}", site(told.freed)));
  if (told.access.file != nullptr) {
    fault.file = told.access.file;
    fault.line = told.access.line;
  }
  return fault;
}

const SluiceMemoryFaultTable* memory_table(const DriverCalls& calls) {
  constexpr unsigned char id[] = SLUICE_MEMORY_FAULT_TABLE_UUID;
  return static_cast<const SluiceMemoryFaultTable*>(device_table(calls, id));
}

}  // namespace

void watch_memory(const DriverCalls& calls, const runtime::Config& config) {
  const SluiceMemoryFaultTable* table = memory_table(calls);
  // Leaked: the device tells until the process is gone.
  if (table == nullptr || table->watch_memory(&DeviceReport::hear<SluiceMemoryFault, memory_fault>,
                                              new DeviceReport(config)) != 0)
    log::warning("this device does not see what threads access: memory is looked at by footprints");
}

void tell_leaks(const DriverCalls& calls) {
  if (const SluiceMemoryFaultTable* table = memory_table(calls)) table->tell_leaks();
}

}  // namespace sluice::interpose
