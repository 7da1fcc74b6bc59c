#include "tools/verify/words.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "tools/verify/writers.hpp"

namespace sluice::tools {
namespace {

constexpr size_t most_writers = 4;
constexpr size_t most_masters = 4;

std::string grid_text(const Dim3& extent) {
  return fmt::format("{}x{}x{}", extent.x, extent.y, extent.z);
}

std::string named(const dro::LaunchSummary& launch) {
  return fmt::format("{} #{}", short_name(launch.record.details.kernel), launch.record.number);
}

// place_of() is where in its buffer a byte of a copy comes from.
uint64_t place_of(const dro::CopyRecord& copy, uint64_t byte) {
  const uint64_t row = byte / copy.row_bytes;
  return copy.offset + row / copy.rows * copy.slice_pitch + row % copy.rows * copy.row_pitch +
         byte % copy.row_bytes;
}

std::string masters_text(const dro::LaunchSummary& launch, const dro::JournalSummary& summary) {
  const auto& dependences = launch.record.dependences;
  if (!launch.record.footprint) return ", which passed through";
  if (dependences.empty()) return ", which waits for no launch";
  std::string text = ", which waits for ";
  for (size_t i = 0; i < dependences.size() && i < most_masters; ++i) {
    const auto& [master, dro] = dependences[dependences.size() - 1 - i];
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", named(summary.launches[master - 1]),
                        dro::hazard_names(summary.dros[dro].dro.hazards));
  }
  if (dependences.size() <= most_masters) return text;
  return text + fmt::format(" and {} more", dependences.size() - most_masters);
}

std::string writer_text(const Writer& writer, const dro::JournalSummary& summary) {
  if (writer.launch == nullptr) return "  written by the host (a copy or a memset)";
  if (!writer.is_known) {
    return fmt::format("  {} may have written them: it passed through ({})",
                       launch_words(*writer.launch), writer.launch->record.details.passed_through);
  }
  return "  written by " + launch_words(*writer.launch) + masters_text(*writer.launch, summary);
}

void add_bytes(const Difference& difference, std::vector<std::string>& lines) {
  const dro::CopyRecord& copy = *difference.second;
  const uint64_t begin = *difference.piece * copy.piece_bytes;
  const uint64_t end = std::min(begin + copy.piece_bytes, copy.bytes());
  lines.push_back(fmt::format("different: {}: first in its bytes {} to {}",
                              copy_words(*difference.first), begin, end - 1));
  if (copy.buffer == 0) {
    lines.emplace_back("  they come from memory that Sluice does not know");
    return;
  }
  const ProcessRecord& process = *difference.second_process;
  const uint64_t first = place_of(copy, begin), last = place_of(copy, end - 1);
  const auto buffer = process.summary.buffers.find(copy.buffer);
  const uint64_t size = buffer == process.summary.buffers.end() ? 0 : buffer->second;
  lines.push_back(
      fmt::format("  from bytes {} to {} of buffer {} ({} bytes)", first, last, copy.buffer, size));
  const Range range{static_cast<int64_t>(first), static_cast<int64_t>(last) + 1};
  const auto writers =
      Writers(process).last_writers(copy.buffer, range, copy.launches, most_writers);
  for (const Writer& writer : writers)
    lines.push_back(writer_text(writer, process.summary));
  if (writers.empty()) lines.emplace_back("  which no launch has written");
}

}  // namespace

std::string copy_words(const dro::CopyRecord& copy) {
  return fmt::format("copy {} to the host ({} of {} bytes, after launch {})", copy.number,
                     copy.function, copy.bytes(), copy.launches);
}

std::string launch_words(const dro::LaunchSummary& launch) {
  return fmt::format("{} (grid {}, block {})", named(launch), grid_text(launch.record.details.grid),
                     grid_text(launch.record.details.block));
}

std::vector<std::string> difference_lines(const Difference& difference) {
  std::vector<std::string> lines;
  if (difference.piece) {
    add_bytes(difference, lines);
  } else if (difference.second == nullptr) {
    lines.push_back(fmt::format("different: {} is not made", copy_words(*difference.first)));
  } else if (difference.first == nullptr) {
    lines.push_back(
        fmt::format("different: {} is made in addition", copy_words(*difference.second)));
  } else {
    lines.push_back(fmt::format("different: in the place of {} comes {}",
                                copy_words(*difference.first), copy_words(*difference.second)));
  }
  return lines;
}

std::string unseen_text(const RunRecord& run) {
  std::map<std::string, uint64_t> reasons;
  for (const ProcessRecord& process : run.processes) {
    for (const auto& [reason, count] : process.unseen)
      reasons[reason] += count;
    const auto graphs = std::ranges::count(
        process.summary.launches, "cuGraphLaunch",
        [](const dro::LaunchSummary& launch) { return launch.record.details.kernel; });
    if (graphs > 0) reasons["what a CUDA graph copies"] += static_cast<uint64_t>(graphs);
    if (!process.is_whole) ++reasons["the last copies of a process that ended at once"];
  }
  std::string text;
  for (const auto& [reason, count] : reasons)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", reason, count);
  return text;
}

}  // namespace sluice::tools
