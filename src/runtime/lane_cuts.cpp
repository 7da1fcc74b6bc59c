#include "runtime/lane_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/divide_up.hpp"

namespace sluice::runtime {
namespace {

// What a task costs beside its blocks, in nanoseconds: its ticket, and the flags of its masters.
constexpr double ticket_nanoseconds = 300;

// Where every launch has another shape, looking through all would cost more than cutting again.
constexpr size_t most_looked_at = 4;

// Sizes of tasks that are looked at for each shape.
constexpr uint32_t most_tried = 16;

// cut_with() makes tasks of so many blocks and gives lane i as near to its part as whole tasks
// come.
LaneCut cut_with(uint64_t blocks, uint32_t blocks_per_task, std::span<const double> speeds) {
  const auto tasks = static_cast<uint32_t>(divide_up(blocks, blocks_per_task));
  const double exact = static_cast<double>(blocks) / blocks_per_task;
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  LaneCut cut{blocks_per_task, {}};
  cut.lane_ends.reserve(speeds.size());
  double sum = 0;
  for (const double speed : speeds) {
    sum += speed;
    cut.lane_ends.push_back(std::min(tasks, static_cast<uint32_t>(std::round(exact * sum / all))));
  }
  cut.lane_ends.back() = tasks;
  return cut;
}

// longest_lane() is when the last worker ends, in nanoseconds.
double longest_lane(const LaneCut& cut, uint64_t blocks, uint32_t block_nanoseconds,
                    std::span<const double> speeds) {
  double longest = 0;
  uint32_t first = 0;
  for (size_t lane = 0; lane < speeds.size(); ++lane) {
    const uint32_t end = cut.lane_ends[lane];
    const uint64_t own = std::min(blocks, uint64_t{end} * cut.blocks_per_task) -
                         std::min(blocks, uint64_t{first} * cut.blocks_per_task);
    const double running = static_cast<double>(own) * block_nanoseconds / speeds[lane];
    longest = std::max(longest, running + (end - first) * ticket_nanoseconds);
    first = end;
  }
  return longest;
}

}  // namespace

LaneCut cut_for_lanes(const Dim3& grid, uint32_t blocks_per_task, uint32_t block_nanoseconds,
                      std::span<const double> speeds) {
  const uint64_t blocks = grid.count();
  if (block_nanoseconds == 0)
    return cut_with(blocks, blocks_per_task, std::vector<double>(speeds.size(), 1));
  LaneCut best = cut_with(blocks, blocks_per_task, speeds);
  const bool has_rows = blocks != grid.x;
  if (has_rows && blocks_per_task < grid.x) return best;
  // Tasks of fewer rows of blocks, or of fewer blocks where the grid is a single row.
  const uint32_t unit = has_rows ? grid.x : 1;
  const uint32_t most = blocks_per_task / unit;
  const auto fewest = static_cast<uint32_t>(divide_up(most, 2));
  const uint32_t step = std::max(1U, (most - fewest) / most_tried);
  double least = longest_lane(best, blocks, block_nanoseconds, speeds);
  for (uint32_t units = most; units >= fewest + step;) {
    units -= step;
    LaneCut cut = cut_with(blocks, units * unit, speeds);
    const double longest = longest_lane(cut, blocks, block_nanoseconds, speeds);
    if (longest >= least) continue;
    best = std::move(cut);
    least = longest;
  }
  return best;
}

const LaneCut& LaneCuts::find(const Dim3& grid, uint32_t blocks_per_task,
                              uint32_t block_nanoseconds) {
  const auto latest =
      known_.end() - static_cast<ptrdiff_t>(std::min(known_.size(), most_looked_at));
  const auto found = std::find_if(latest, known_.end(), [&](const Known& known) {
    return known.grid == grid && known.blocks_per_task == blocks_per_task &&
           known.block_nanoseconds == block_nanoseconds;
  });
  if (found != known_.end()) return found->cut;
  return known_
      .emplace_back(Known{grid, blocks_per_task, block_nanoseconds,
                          cut_for_lanes(grid, blocks_per_task, block_nanoseconds, speeds_)})
      .cut;
}

}  // namespace sluice::runtime
