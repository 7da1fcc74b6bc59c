// Probe 6: what the order of tasks alone can give, on a Jacobi step.
#include <algorithm>

#include "jacobi_bench.cuh"
#include "probes.hpp"
#include "report/recorder.hpp"

namespace sluice::gpu_probe {
namespace {

// The kernels themselves are checked first, against the host, on a plate whose every tile is at the
// border or next to it; the large plates are compared with the launch order's result.
void require_host_result(int workers) {
  const Plate plate = {4 * tile_width, 5 * tile_height};
  const auto order = launch_order(plate.tiles(), jacobi_steps);
  const std::vector<float> expected = host_jacobi(plate, order, jacobi_steps);
  JacobiBench bench(plate);
  bench.run_launches();
  if (bench.result() != expected) {
    throw ProbeFailure("the Jacobi kernel's result differs from the host's");
  }
  bench.use_order(skewed_order(plate.tiles(), jacobi_steps, 8, 2));
  bench.run_workers(Form::inlined, workers);
  if (bench.result() != expected) {
    throw ProbeFailure("the worker loop's result differs from the host's");
  }
}

double median(const std::vector<double>& samples) {
  return summarize(samples).median;
}

// Measures one way of running, checks its last result and records Gcells/s and, where there is a
// base to compare with, each repeat's gain over the base's median.
template <class Run>
double record(JacobiBench& bench, Recorder& recorder, const std::string& name, Range expected,
              double base, Run&& run) {
  std::vector<double> rates = measure([&] { return bench.gcells_per_s(run()); });
  if (base == 0) {
    bench.keep_as_reference();
  } else {
    bench.require_equal(name);
  }
  recorder.row(name, "Gcells/s", rates, base == 0 ? expected : Range{});
  const double rate = median(rates);
  if (base != 0) {
    for (double& value : rates) {
      value /= base;
    }
    recorder.row(name, "x stream", rates, expected);
  }
  return rate;
}

void probe_size(const Device& device, Recorder& recorder, double l2_share, int workers) {
  const auto bytes = static_cast<std::size_t>(l2_share * static_cast<double>(device.l2_bytes));
  const Plate plate = plate_of(bytes);
  const TileGrid grid = plate.tiles();
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for free memory");
  const std::string size =
      (l2_share < 1 ? std::string("0.5") : std::to_string(static_cast<int>(l2_share))) + " x L2";
  // Three arrays, the order and the flags: at most twice the two arrays' bytes.
  if (2 * bytes > free_bytes || grid.tiles() > task_tile_mask) {
    recorder.note(size + ": not enough free memory; left out");
    return;
  }
  JacobiBench bench(plate);
  const double memory_bound = device.memory_gb_per_s / 8;  // 4 bytes read and 4 written a cell
  const bool in_l2 = l2_share < 1;
  const Range launched = memory_bound == 0 ? Range{}
                         : in_l2
                             ? Range{0.5 * memory_bound, 4 * memory_bound}
                             : Range{0.5 * memory_bound, (l2_share < 4 ? 3 : 1.5) * memory_bound};
  const double base = record(bench, recorder, size + ", launches in a stream", launched, 0,
                             [&] { return bench.run_launches(); });
  const auto workers_run = [&] { return bench.run_workers(Form::inlined, workers); };
  record(bench, recorder, size + ", worker loop, launch order", {0.7, in_l2 ? 2.0 : 1.3}, base,
         workers_run);
  for (unsigned depth = 2; depth <= jacobi_steps; depth *= 2) {
    const unsigned skew = skew_for(grid, depth, static_cast<unsigned>(workers));
    bench.use_order(skewed_order(grid, jacobi_steps, depth, skew));
    record(bench, recorder,
           size + ", skewed, depth " + std::to_string(depth) + ", skew " + std::to_string(skew),
           {0.7, in_l2 ? 2.0 : 4.0}, base, workers_run);
  }
}

}  // namespace

void probe_order(const Device& device, Recorder& recorder) {
  recorder.begin(
      6, "Order",
      "a cell and step move 4 bytes in and 4 out. Beyond the L2 the launch order pays that to "
      "memory at every step, so memory bandwidth / 8 B is its bound (" +
          std::to_string(static_cast<int>(device.memory_gb_per_s / 8)) +
          " Gcells/s by this GPU's figures). A time-skewed order of depth d goes to memory once in "
          "d "
          "steps and to the L2 otherwise; the L2 gives 1.5 to 3 times the memory's bandwidth, so "
          "that, less the worker loop's overhead a task, is the most that order can give. At half "
          "the L2 everything is in the L2 and no order can gain, only the launch gaps are saved.");
  const int resident = form_facts(Form::inlined).blocks_per_sm;
  const int workers = device.sm_count * std::min(4, resident);
  recorder.note(std::to_string(workers) + " workers of " + std::to_string(worker_threads) +
                " threads, tiles of " + std::to_string(tile_width) + " x " +
                std::to_string(tile_height) + " cells, " + std::to_string(jacobi_steps) +
                " steps; results of every case compared bit by bit");
  require_host_result(workers);
  for (const double l2_share : {0.5, 1.0, 2.0, 4.0, 8.0}) {
    probe_size(device, recorder, l2_share, workers);
  }
}

}  // namespace sluice::gpu_probe
