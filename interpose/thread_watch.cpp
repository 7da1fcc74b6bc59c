#include "interpose/thread_watch.hpp"

#include <string>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "base/log.hpp"
#include "hostcuda/thread_race.h"
#include "interpose/device_report.hpp"

namespace sluice::interpose {
namespace {

const char* verb_of(const SluiceThreadAccess& access) {
  if (access.is_async != 0) return "copies by cp.async";
  if (access.writes == 0) return "reads";
  return access.reads != 0 ? "updates" : "writes";
}

std::string memory_of(const SluiceThreadRace& race) {
  if (race.memory == nullptr) return "the block's shared memory";
  return fmt::format("{} ({} bytes)", race.memory, race.memory_bytes);
}

runtime::Fault thread_race(const SluiceThreadRace& race) {
  const auto& [first, second] = race.accesses;
  runtime::Fault fault;
  fault.kind = "threads";
  fault.rule = race.is_between_lanes != 0 ? "lanes-in-step" : "race-between-threads";
  fault.kernel = short_name(race.kernel);
  fault.site = launch_site_of(race.site, race.site_depth, race.kernel);
  fault.message = fmt::format(
      "race: bytes {} to {} of {}; {}:", race.first_byte, race.last_byte, memory_of(race),
      race.is_between_lanes != 0
          ? "lanes of a warp rely on being in step, which only __syncwarp() makes sure of"
          : "nothing orders these two threads of a block");
  fault.details.push_back(launch_text(fault, race.grid, race.block_size));
  for (const SluiceThreadAccess* access : {&first, &second}) {
    fault.details.push_back(
        fmt::format("block {}, thread {} {} at {}", index_text(race.block, race.grid),
                    index_text(access->thread, race.block_size), verb_of(*access),
                    code_place(access->file, access->line, access->ptx_line)));
  }
  // The line to look at is that of the write.
  const SluiceThreadAccess& writing = first.writes != 0 ? first : second;
  if (writing.file != nullptr) {
    fault.file = writing.file;
    fault.line = writing.line;
  }
  return fault;
}

}  // namespace

void watch_threads(const DriverCalls& calls, const runtime::Config& config) {
  constexpr unsigned char id[] = SLUICE_THREAD_RACE_TABLE_UUID;
  const auto* table = static_cast<const SluiceThreadRaceTable*>(device_table(calls, id));
  // Leaked: the device tells until the process is gone.
  if (table == nullptr || table->watch_threads(&DeviceReport::hear<SluiceThreadRace, thread_race>,
                                               new DeviceReport(config)) != 0)
    log::warning("this device does not see what threads access: their races are not looked for");
}

}  // namespace sluice::interpose
