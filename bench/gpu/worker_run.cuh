// The host's side of a worker loop: its table in device memory, cleared before and checked after.
#pragma once
#include "device.cuh"
#include "worker_loop.cuh"

namespace sluice::gpu_probe {

// WorkerRun owns the table of one chain of `steps` steps over a grid of tiles.
class WorkerRun {
 public:
  WorkerRun(TileGrid grid, unsigned steps)
      : steps_(steps), grid_(grid), words_(3), flags_(grid.tiles()) {}

  WorkerTable table() const {
    return {words_.get(), flags_.get(), words_.get() + 1, words_.get() + 2,
            tickets(),    grid_.width,  grid_.height};
  }
  TileGrid grid() const { return grid_; }
  unsigned steps() const { return steps_; }
  unsigned tickets() const { return grid_.tiles() * steps_; }

  // clear() must come before each launch; it is not part of the time.
  void clear() {
    words_.clear();
    flags_.clear();
    check(cudaDeviceSynchronize(), "clearing a worker table");
  }

  // verify() throws ProbeFailure unless every task ran exactly once and no wait ran out.
  void verify() const {
    const std::vector<unsigned> words = words_.download();
    if (words[1] != 0) {
      throw ProbeFailure("a worker's wait ran out: the figures are void");
    }
    if (words[2] != tickets()) {
      throw ProbeFailure("the workers ran " + std::to_string(words[2]) + " tasks instead of " +
                         std::to_string(tickets()));
    }
    for (const unsigned flag : flags_.download()) {
      if (flag != steps_) {
        throw ProbeFailure("a tile's flag stands at " + std::to_string(flag) + " instead of " +
                           std::to_string(steps_));
      }
    }
  }

 private:
  unsigned steps_;
  TileGrid grid_;
  Buffer<unsigned> words_;
  Buffer<unsigned> flags_;
};

}  // namespace sluice::gpu_probe
