// How launches are shared out among workers that each keep to their own part of the blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/dim3.hpp"

namespace sluice::runtime {

// LaneCut cuts the blocks of a launch into tasks of so many blocks, of which lane i has those from
// lane_ends[i - 1] (0 for the first) to lane_ends[i] - 1.
struct LaneCut {
  uint32_t blocks_per_task = 1;
  std::vector<uint32_t> lane_ends;
};

// cut_for_lanes() gives each worker as many blocks as it runs in the same time as the others.
// `blocks_per_task` is what tasks have where all are equally fast; with other speeds they may
// become smaller, down to half, where that lets workers end together. `block_nanoseconds` is what a
// block costs (0: not known, then all workers count as equally fast). `speeds` has one entry for
// each worker, more than 0, of which only the ratios count. Where rows of blocks make a task it
// stays whole rows.
LaneCut cut_for_lanes(const Dim3& grid, uint32_t blocks_per_task, uint32_t block_nanoseconds,
                      std::span<const double> speeds);

// LaneCuts are the cuts of one window, whose launches mostly have few shapes. Not thread-safe.
class LaneCuts {
 public:
  // `speeds` outlives this object.
  explicit LaneCuts(std::span<const double> speeds) : speeds_(speeds) {}

  // find() is what cut_for_lanes() gives; the reference stays good.
  const LaneCut& find(const Dim3& grid, uint32_t blocks_per_task, uint32_t block_nanoseconds);

 private:
  struct Known {
    Dim3 grid;
    uint32_t blocks_per_task = 0;
    uint32_t block_nanoseconds = 0;
    LaneCut cut;
  };

  std::span<const double> speeds_;
  std::deque<Known> known_;
};

}  // namespace sluice::runtime
