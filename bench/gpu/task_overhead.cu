// Probe 5: what the worker loop adds to a task, and what a step costs in it.
#include <algorithm>
#include <cmath>

#include "launch_chain.cuh"
#include "probes.hpp"
#include "report/recorder.hpp"
#include "worker_run.cuh"

namespace sluice::gpu_probe {
namespace {

constexpr unsigned tasks = 1'000'000;

static_assert(worker_threads == chain_threads, "a task and a launch's block must be alike");

__global__ void __launch_bounds__(worker_threads)
    busy_worker(WorkerTable table, ComputedOrder order, long long cycles) {
  run_worker(table, order, [cycles](unsigned, unsigned) { stay_busy(cycles); });
}

// A grid of at most `tiles` tiles, as square as may be: most tiles then have four neighbours.
TileGrid near_square(unsigned tiles) {
  const auto width = static_cast<unsigned>(std::sqrt(static_cast<double>(tiles)));
  return {std::max(1u, width), std::max(1u, tiles / std::max(1u, width))};
}

double run_once(WorkerRun& run, const Stream& stream, Stopwatch& stopwatch, int workers,
                long long cycles) {
  run.clear();
  stopwatch.start();
  busy_worker<<<workers, worker_threads, 0, stream.get()>>>(
      run.table(), ComputedOrder{run.grid().tiles()}, cycles);
  check(cudaGetLastError(), "launching the worker loop");
  const double time = stopwatch.stop();
  run.verify();
  return time;
}

// One chain: the worker loop's time a task and a step, and the same steps as launches.
void probe_chain(const Device& device, Recorder& recorder, const std::string& name, TileGrid grid,
                 int workers, double body_us) {
  const long long cycles = device.cycles(body_us);
  const unsigned steps = std::max(1u, tasks / grid.tiles());
  WorkerRun run(grid, steps);
  const Stream stream;
  Stopwatch stopwatch(stream);
  std::vector<double> step_times =
      measure([&] { return run_once(run, stream, stopwatch, workers, cycles) / steps; });
  std::vector<double> overheads;
  for (const double time : step_times) {
    overheads.push_back((time * workers / grid.tiles() - body_us) * 1000);
  }
  // How often all workers go round for one step; below one wave the step takes a whole body.
  const double waves = std::max(1.0, static_cast<double>(grid.tiles()) / workers);
  if (grid.tiles() > static_cast<unsigned>(workers)) {
    recorder.row(name + ", worker loop", "ns/task", overheads, {200, 2500});
  } else {
    // Fewer tasks than workers, or as many: a worker's time is mostly waiting, and says nothing.
    recorder.row(name + ", worker loop, waits included", "ns/task", overheads);
  }
  recorder.row(name + ", worker loop", "us/step", step_times,
               {waves * body_us + 0.3, waves * (body_us + 2.5) + 1});
  // A thousand steps, as in probe 1; the step's cost does not depend on their number.
  LaunchChain chain(static_cast<int>(grid.tiles()), 1000, cycles, Tie::stream);
  recorder.row(name + ", stream", "us/step", measure([&] { return chain.time_stream(); }));
  recorder.row(name + ", graph", "us/step", measure([&] { return chain.time_graph(); }));
}

}  // namespace

void probe_task_overhead(const Device& device, Recorder& recorder) {
  recorder.begin(5, "A task's overhead",
                 "a task costs its worker one look at five flags, which the five lanes do at once "
                 "(an L2 round "
                 "trip, 0.2 to 0.4 us), two block barriers (some 30 ns each) and a release, which "
                 "waits for the "
                 "body's writes (0.3 to 0.8 us); the ticket is fetched ahead. So 0.5 to 1.5 us of "
                 "worker time a "
                 "task where nobody waits. A one-wave step adds a flag's way (probe 3) to that: 1 "
                 "to 2 us beside "
                 "the launch gap of probe 1; with ten waves other tasks fill a waiting step's gap "
                 "and only the "
                 "tasks' overhead is left, while a launch of ten waves pays its gap once and "
                 "starts each block "
                 "in some tens of ns: there the launch should win.");
  const int resident = resident_blocks(busy_worker, worker_threads);
  const int workers = std::min(chain_wave(device), resident * device.sm_count);
  const auto count = static_cast<unsigned>(workers);
  recorder.note(
      std::to_string(workers) + " workers of " + std::to_string(worker_threads) +
      " threads, a million tasks a repeat; ns/task has the body's time taken off. A launch "
      "may hold more blocks at once than there are workers, up to " +
      std::to_string(device.sm_count * launch_residency()));
  for (const double body_us : {0.0, 2.0, 10.0}) {
    const std::string body =
        body_us == 0 ? "empty" : std::to_string(static_cast<int>(body_us)) + " us";
    probe_chain(device, recorder, body + ", half a wave", near_square(std::max(1u, count / 2)),
                workers, body_us);
    probe_chain(device, recorder, body + ", one wave", near_square(count), workers, body_us);
    probe_chain(device, recorder, body + ", ten waves", near_square(10 * count), workers, body_us);
  }
}

}  // namespace sluice::gpu_probe
