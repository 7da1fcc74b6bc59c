// A recorded run, launch by launch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/view/recorded_run.hpp"

namespace sluice::tools::testing {

// one_to_one() leads from block i to block i.
inline dro::EdgeTable one_to_one(uint32_t blocks) {
  dro::EdgeTable table;
  table.form = dro::EdgeForm::neighbours;
  table.master_grid = table.slave_grid = {blocks, 1, 1};
  table.master_box = table.slave_box = {0, 0, 0, blocks - 1, 0, 0};
  table.offsets = {{0, 0, 0}};
  table.edge_count = blocks;
  return table;
}

inline dro::EdgeTable all(uint32_t masters, uint32_t slaves) {
  dro::EdgeTable table;
  table.form = dro::EdgeForm::all;
  table.master_grid = {masters, 1, 1};
  table.slave_grid = {slaves, 1, 1};
  table.master_box = {0, 0, 0, masters - 1, 0, 0};
  table.slave_box = {0, 0, 0, slaves - 1, 0, 0};
  table.edge_count = uint64_t{masters} * slaves;
  return table;
}

// ranges() takes for each slave block its one range of masters.
inline dro::EdgeTable ranges(uint32_t masters, const std::vector<dro::BlockRange>& of_slave) {
  dro::EdgeTable table;
  table.form = dro::EdgeForm::ranges;
  table.master_grid = {masters, 1, 1};
  table.slave_grid = {static_cast<uint32_t>(of_slave.size()), 1, 1};
  for (const dro::BlockRange& range : of_slave) {
    table.rows.push_back(static_cast<uint32_t>(table.ranges.size()));
    if (range.first <= range.last) table.ranges.push_back(range);
  }
  table.rows.push_back(static_cast<uint32_t>(table.ranges.size()));
  return table;
}

class HandwrittenRun {
 public:
  // launch() adds a launch of `blocks` blocks that waits for earlier ones by these tables, and
  // returns its number.
  dro::LaunchNumber launch(uint32_t blocks,
                           std::vector<std::pair<dro::LaunchNumber, dro::EdgeTable>> masters = {}) {
    dro::LaunchSummary summary;
    summary.record.number = run.summary.launches.size() + 1;
    summary.record.details.kernel = "kernel" + std::to_string(summary.record.number);
    summary.record.details.grid = {blocks, 1, 1};
    summary.record.footprint = 0;
    for (auto& [master, table] : masters) {
      const auto id = static_cast<dro::DroId>(run.summary.dros.size());
      summary.record.dependences.emplace_back(master, id);
      run.summary.dros.emplace_back().dro.edges = id;
      run.tables.push_back(std::move(table));
    }
    run.summary.launches.push_back(std::move(summary));
    return run.summary.launches.size();
  }
  // opaque() makes the launch added last one that Sluice did not understand.
  void opaque() { run.summary.launches.back().record.footprint.reset(); }

  RecordedRun run;
};

}  // namespace sluice::tools::testing
