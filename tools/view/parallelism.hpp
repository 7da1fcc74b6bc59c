// How much of a run could be done at once: work, and the span under three orders.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>

#include "base/result.hpp"
#include "tools/view/recorded_run.hpp"

namespace sluice::tools {

// Weight is what a block counts: one, or the nanoseconds that its task took divided by the task's
// blocks.
enum class Weight { blocks, nanoseconds };

// Parallelism of a run on as many workers as it can use. Work is the sum of all weights. A span is
// the heaviest chain of blocks of which each has to wait for the one before:
//   launch_by_launch  every launch waits for the one before, as in a stream
//   launch_graph      a launch waits for the whole of each launch it depends on
//   block_graph       a block waits for the blocks it depends on
// Work by span is the most workers that this order can keep busy. Copies, and what the host does,
// count nothing, so no program gains more than these figures say.
struct Parallelism {
  double work = 0;
  double launch_by_launch = 0;
  double launch_graph = 0;
  std::optional<double> block_graph;  // nothing where it has too many edges to follow

  // launch_by_launch_time is the least time of that order on 2, 4, 8, ... workers.
  static constexpr std::array<uint32_t, 8> workers = {2, 8, 32, 128, 512, 2048, 8192, 32768};
  std::array<double, workers.size()> launch_by_launch_time = {};
  // most_gain() is how many times faster than launch by launch any order that keeps the block
  // graph's dependences can be on workers[i] workers.
  double most_gain(size_t i) const;
};

// measure() takes time in proportion to the rows of edges of all launches. For nanoseconds every
// launch must have been traced; an error names the first that was not.
Result<Parallelism> measure(const RecordedRun& run, Weight weight);

// write_parallelism() prints the figures by blocks and, where the run was traced, by time; with
// `as_json` one object.
Status write_parallelism(const RecordedRun& run, bool as_json, std::ostream& out);

}  // namespace sluice::tools
