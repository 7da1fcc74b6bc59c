#include "tools/verify/recorded_copies.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sluice::tools {
namespace {

template <class Count>
uint64_t sum(const std::vector<ProcessRecord>& processes, Count&& count) {
  return std::accumulate(
      processes.begin(), processes.end(), uint64_t{0},
      [&](uint64_t before, const ProcessRecord& process) { return before + count(process); });
}

void add(dro::CopyRecord copy, ProcessRecord& process) {
  if (copy.function == dro::CopyRecord::at_end) {
    process.is_whole = true;
  } else if (!copy.unseen.empty()) {
    ++process.unseen[copy.unseen];
  } else {
    process.copies.push_back(std::move(copy));
  }
}

}  // namespace

uint64_t ProcessRecord::tasks() const {
  return static_cast<uint64_t>(
      std::ranges::count_if(summary.launches, [](const dro::LaunchSummary& launch) {
        return launch.record.details.passed_through.empty();
      }));
}

uint64_t RunRecord::copies() const {
  return sum(processes, [](const ProcessRecord& process) { return process.copies.size(); });
}

uint64_t RunRecord::copied_bytes() const {
  return sum(processes, [](const ProcessRecord& process) {
    uint64_t bytes = 0;
    for (const dro::CopyRecord& copy : process.copies)
      bytes += copy.bytes();
    return bytes;
  });
}

uint64_t RunRecord::launches() const {
  return sum(processes,
             [](const ProcessRecord& process) { return process.summary.launches.size(); });
}

uint64_t RunRecord::tasks() const {
  return sum(processes, [](const ProcessRecord& process) { return process.tasks(); });
}

Result<ProcessRecord> read_process(const std::string& path) {
  ProcessRecord process;
  auto summary = dro::summarise(
      path, [&](const dro::JournalRecord& record, const dro::JournalSummary& so_far) -> Status {
        if (const auto* copy = std::get_if<dro::CopyRecord>(&record.value)) {
          add(*copy, process);
        } else if (const auto* found = std::get_if<dro::FootprintRecord>(&record.value)) {
          process.footprints[found->id] = found->footprint;
        } else if (const auto* write = std::get_if<dro::HostWriteRecord>(&record.value)) {
          process.host_writes.push_back(
              {so_far.launches.size(),
               write->buffer,
               {static_cast<int64_t>(write->begin), static_cast<int64_t>(write->end)}});
        }
        return {};
      });
  if (!summary) return tl::unexpected(summary.error());
  process.summary = std::move(*summary);
  std::ranges::sort(process.copies, {}, &dro::CopyRecord::number);
  return process;
}

}  // namespace sluice::tools
