// How the blocks of a launch are cut into tasks.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

#include "base/number/divide_up.hpp"

namespace sluice::schedule {

// TaskCut cuts blocks, one behind the other as they are numbered, into tasks: runs of so many
// blocks; or, where planes are cut, each plane of the grid by itself, so that a task ends where its
// plane does. There the first task of each plane is `shift` blocks shorter than others.
struct TaskCut {
  TaskCut() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most cuts are but a number of blocks
  TaskCut(uint32_t blocks_per_task) : blocks_per_task(blocks_per_task) {}
  // `shift` is below `blocks_per_task`.
  TaskCut(uint32_t blocks_per_task, uint32_t plane_blocks, uint32_t shift)
      : blocks_per_task(blocks_per_task), plane_blocks(plane_blocks), shift(shift) {}

  uint32_t blocks_per_task = 1;
  uint32_t plane_blocks = 0;  // 0: planes are not cut
  uint32_t shift = 0;

  // tasks_in_plane() asks for planes.
  uint32_t tasks_in_plane() const {
    return static_cast<uint32_t>(divide_up(plane_blocks + shift, blocks_per_task));
  }
  // tasks() is how many tasks a launch of so many blocks makes.
  uint32_t tasks(uint32_t blocks) const {
    if (plane_blocks == 0) return static_cast<uint32_t>(divide_up(blocks, blocks_per_task));
    return blocks / plane_blocks * tasks_in_plane();
  }
  // task_of() is the task that a block lies in. It rises with the block.
  uint32_t task_of(uint32_t block) const {
    if (plane_blocks == 0) return block / blocks_per_task;
    return block / plane_blocks * tasks_in_plane() +
           (block % plane_blocks + shift) / blocks_per_task;
  }
  // first_block() is that of a task. Of the one behind the last it is no less than the number of
  // the launch's blocks.
  uint32_t first_block(uint32_t task) const {
    if (plane_blocks == 0) return task * blocks_per_task;
    const uint32_t in_plane = task % tasks_in_plane() * blocks_per_task;
    return task / tasks_in_plane() * plane_blocks + in_plane - std::min(in_plane, shift);
  }

  friend auto operator<=>(const TaskCut&, const TaskCut&) = default;
};

}  // namespace sluice::schedule
