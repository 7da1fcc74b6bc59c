#include "tools/explain/recorded_launches.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "dro/journal/journal_reader.hpp"

namespace sluice::tools {
namespace {

RecordedKernel& entry_of(std::vector<RecordedKernel>& kernels, const std::string& name) {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const RecordedKernel& known) {
    return known.kernel == name;
  });
  if (found != kernels.end()) return *found;
  kernels.emplace_back().kernel = name;
  return kernels.back();
}

}  // namespace

bool is_journal(const std::string& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return false;
  std::ifstream stream(file);
  std::string start(11, '\0');
  return stream.read(start.data(), std::streamsize(start.size())) && start == "{\"journal\":";
}

Result<std::vector<RecordedKernel>> recorded_launches(const std::string& file,
                                                      std::optional<uint64_t> wanted) {
  auto reader = dro::JournalReader::open(file);
  if (!reader) return tl::unexpected(reader.error());
  std::map<dro::FootprintId, analysis::Footprint> footprints;
  std::map<std::string, std::set<dro::FootprintId>> shapes;
  std::vector<RecordedKernel> kernels;
  const auto add = [&](const dro::LaunchRecord& launch) {
    if (wanted && launch.number != *wanted) return;
    RecordedKernel& kernel = entry_of(kernels, launch.details.kernel);
    if (launch.footprint) shapes[kernel.kernel].insert(*launch.footprint);
    if (kernel.footprint) return;
    if (kernel.launch == 0 || launch.footprint) kernel.launch = launch.number;
    if (kernel.reason.empty()) {
      kernel.reason = launch.details.passed_through;
      kernel.widening = launch.details.widening;
    }
    const auto known = launch.footprint ? footprints.find(*launch.footprint) : footprints.end();
    if (known != footprints.end()) kernel.footprint = known->second;
  };
  const Status read = reader->each([&](const dro::JournalRecord& record) -> Status {
    if (const auto* made = std::get_if<dro::FootprintRecord>(&record.value)) {
      footprints.emplace(made->id, made->footprint);
    } else if (const auto* launch = std::get_if<dro::LaunchRecord>(&record.value)) {
      add(*launch);
    }
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  for (RecordedKernel& kernel : kernels)
    kernel.shapes = shapes[kernel.kernel].size();
  if (wanted && kernels.empty()) {
    return invalid_input(fmt::format("holds no launch {}", *wanted), file,
                         "sluice inspect --launches lists them");
  }
  return kernels;
}

}  // namespace sluice::tools
