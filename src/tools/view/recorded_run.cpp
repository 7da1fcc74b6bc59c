#include "tools/view/recorded_run.hpp"

#include <algorithm>
#include <utility>

#include "dro/journal/journal_reader.hpp"
#include "dro/recorded/replay.hpp"

namespace sluice::tools {
namespace {

bool within(const dro::BlockBox& box, const Dim3& grid) {
  return box.first_x <= box.last_x && box.last_x < grid.x && box.first_y <= box.last_y &&
         box.last_y < grid.y && box.first_z <= box.last_z && box.last_z < grid.z;
}

// is_whole() says that a table leads to blocks that there are. A seal only says that the line is as
// it was written.
bool is_whole(const dro::EdgeTable& table) {
  if (table.form != dro::EdgeForm::ranges) {
    return within(table.slave_box, table.slave_grid) && within(table.master_box, table.master_grid);
  }
  if (table.rows.size() != table.slave_grid.count() + 1) return false;
  if (table.rows.front() != 0 || table.rows.back() != table.ranges.size()) return false;
  if (!std::is_sorted(table.rows.begin(), table.rows.end())) return false;
  return std::all_of(table.ranges.begin(), table.ranges.end(), [&](const dro::BlockRange& range) {
    return range.first <= range.last && range.last < table.master_grid.count();
  });
}

const dro::LaunchRecord* launch_of(const RecordedRun& run, dro::LaunchNumber number) {
  // Launches stand at their number less one, unless the journal was changed.
  if (number == 0 || number > run.summary.launches.size()) return nullptr;
  const dro::LaunchRecord& launch = run.summary.launches[number - 1].record;
  return launch.number == number ? &launch : nullptr;
}

Status add_tasks(const dro::JournalRecord& record, RecordedRun& run) {
  auto tasks = dro::tasks_of(record);
  if (!tasks) return tl::unexpected(tasks.error());
  const dro::LaunchRecord* launch = launch_of(run, tasks->launch);
  const bool cut =
      launch != nullptr && tasks->blocks_per_task > 0 &&
      (launch->details.grid.count() + tasks->blocks_per_task - 1) / tasks->blocks_per_task ==
          tasks->tasks.size();
  if (!cut) return invalid_input("its tasks are not those of a launch", record.where);
  run.tasks.push_back(std::move(*tasks));
  return {};
}

// A dependence's table is of the grids of its two launches.
Status check_grids(const RecordedRun& run, const std::string& path) {
  for (const dro::LaunchSummary& slave : run.summary.launches) {
    for (const auto& [number, id] : slave.record.dependences) {
      const dro::LaunchRecord* master = launch_of(run, number);
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
  auto summary = dro::summarise(path);
  if (!summary) return tl::unexpected(summary.error());
  RecordedRun run{std::move(*summary), {}, {}};
  auto reader = dro::JournalReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  while (true) {
    const auto record = reader->next();
    if (!record) return tl::unexpected(record.error());
    if (!*record) break;
    if ((*record)->kind == "edges") {
      auto edges = dro::edges_of(**record);
      if (!edges) return tl::unexpected(edges.error());
      if (edges->first != run.tables.size() || !is_whole(edges->second)) {
        return invalid_input("the edge table contradicts itself", (*record)->where);
      }
      run.tables.push_back(std::move(edges->second));
    } else if ((*record)->kind == "tasks") {
      const Status added = add_tasks(**record, run);
      if (!added) return tl::unexpected(added.error());
    }
  }
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
