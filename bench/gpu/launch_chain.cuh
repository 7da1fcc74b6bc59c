// A chain of kernels that each must follow the one before, in all the ways CUDA has to launch it.
#pragma once

#include "device.cuh"

namespace sluice::gpu_probe {

constexpr int chain_threads = 256;

// How each kernel of a chain is tied to the one before.
enum class Tie {
  stream,        // stream order
  programmatic,  // programmatic dependent launch: starts early, waits before its body (sm_90)
};

// LaunchChain times `steps` launches of `blocks` blocks whose threads stay busy for `cycles`
// (0: empty). All times are microseconds a step.
class LaunchChain {
 public:
  LaunchChain(int blocks, int steps, long long cycles, Tie tie);
  LaunchChain(const LaunchChain&) = delete;
  LaunchChain& operator=(const LaunchChain&) = delete;
  ~LaunchChain();

  // time_stream() launches as fast as the host can: the slower of host and device shows.
  double time_stream();

  // time_queued() lets a kernel of `head_start` cycles go first, so that the chain is all in the
  // stream before it starts and only the device's share shows, as far as the queue is deep enough.
  double time_queued(long long head_start);

  // time_graph() launches the chain as one CUDA graph, captured at the first call.
  double time_graph();

  // programmatic_edges() counts the captured graph's edges that are programmatic.
  std::size_t programmatic_edges() const;

 private:
  void launch_all();
  void capture();

  int blocks_;
  int steps_;
  long long cycles_;
  Tie tie_;
  Stream stream_;
  Stopwatch stopwatch_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

// time_grid_sync() runs the steps inside one cooperative kernel with grid.sync between them, and
// returns microseconds a step. `blocks` must be resident all at once, which CUDA checks.
double time_grid_sync(int blocks, int steps, long long cycles);

// chain_wave() is the number of blocks of a wave: four of chain_threads on each SM, or fewer where
// the SM does not hold so many. Workers of the worker loops are as many.
int chain_wave(const Device& device);

// launch_residency() is how many blocks of a step's kernel one SM holds.
int launch_residency();

}  // namespace sluice::gpu_probe
