// A recorded run, launch by launch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/view/recorded_run.hpp"

namespace sluice::tools::testing {

// one_to_one() leads from block i to block i.
inline dro::EdgeTable one_to_one(uint32_t blocks) {
  const Dim3 grid = {blocks, 1, 1};
  const auto box = dro::BlockBox::of_grid(grid);
  return make_table(grid, grid, dro::NeighbourEdges{{box, box}, {{0, 0, 0}}});
}

inline dro::EdgeTable all(uint32_t masters, uint32_t slaves) {
  const Dim3 from = {masters, 1, 1}, to = {slaves, 1, 1};
  return make_table(from, to,
                    dro::AllEdges{{dro::BlockBox::of_grid(from), dro::BlockBox::of_grid(to)}});
}

// ranges() takes for each slave block its one range of masters.
inline dro::EdgeTable ranges(uint32_t masters, const std::vector<dro::BlockRange>& of_slave) {
  dro::RangeEdges edges{{0}, {}};
  for (const dro::BlockRange& range : of_slave) {
    if (range.first <= range.last) edges.add(range);
    edges.end_row();
  }
  return make_table({masters, 1, 1}, {static_cast<uint32_t>(of_slave.size()), 1, 1},
                    std::move(edges));
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
