#include "tools/view/recorded_run.hpp"

#include <algorithm>
#include <utility>

#include "dro/recorded/replay.hpp"

namespace sluice::tools {
namespace {

const dro::LaunchRecord* launch_of(const dro::JournalSummary& summary, dro::LaunchNumber number) {
  // Launches stand at their number less one, unless the journal was changed.
  if (number == 0 || number > summary.launches.size()) return nullptr;
  const dro::LaunchRecord& launch = summary.launches[number - 1].record;
  return launch.number == number ? &launch : nullptr;
}

bool are_of(const dro::TaskRecord& tasks, const dro::LaunchRecord* launch) {
  if (launch == nullptr || tasks.tasks.empty() || tasks.tasks.front().first_block != 0)
    return false;
  uint64_t end = launch->details.grid.count();
  return std::all_of(tasks.tasks.rbegin(), tasks.tasks.rend(), [&](const auto& task) {
    return std::exchange(end, task.first_block) > task.first_block;
  });
}

// add() keeps what the summary leaves out, and refuses what only a changed journal can say: a seal
// only says that the line is as it was written.
Status add(const dro::JournalRecord& record, const dro::JournalSummary& before, RecordedRun& run) {
  if (const auto* edges = std::get_if<dro::EdgesRecord>(&record.value)) {
    if (edges->id != run.tables.size() || !is_whole(edges->table)) {
      return invalid_input("the edge table contradicts itself", record.where);
    }
    run.tables.push_back(edges->table);
  } else if (const auto* tasks = std::get_if<dro::TaskRecord>(&record.value)) {
    if (!are_of(*tasks, launch_of(before, tasks->launch))) {
      return invalid_input("its tasks are not those of a launch", record.where);
    }
    run.tasks.push_back(*tasks);
  }
  return {};
}

// A dependence's table is of the grids of its two launches.
Status check_grids(const RecordedRun& run, const std::string& path) {
  for (const dro::LaunchSummary& slave : run.summary.launches) {
    for (const auto& [number, id] : slave.record.dependences) {
      const dro::LaunchRecord* master = launch_of(run.summary, number);
      const dro::EdgeTable& table = run.tables[run.summary.dros[id].dro.edges];
      if (master == nullptr || master->details.grid != table.master_grid ||
          slave.record.details.grid != table.slave_grid) {
        return invalid_input(
            "launch " + std::to_string(slave.record.number) + " has an edge table of other grids",
            path);
      }
    }
  }
  return {};
}

}  // namespace

Result<RecordedRun> read_run(const std::string& path) {
  RecordedRun run;
  auto summary = dro::summarise(
      path, [&](const auto& record, const auto& before) { return add(record, before, run); });
  if (!summary) return tl::unexpected(summary.error());
  run.summary = std::move(*summary);
  const Status grids = check_grids(run, path);
  if (!grids) return tl::unexpected(grids.error());
  return run;
}

Status replayed(const std::string& path) {
  const Result<dro::ReplayResult> result = dro::replay(path);
  if (!result) return tl::unexpected(result.error());
  if (result->identical()) return {};
  return invalid_input(result->difference, "nothing was written, since the replay differs");
}

}  // namespace sluice::tools
