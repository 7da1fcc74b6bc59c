// Probe 1: what a launch costs between two kernels that depend on each other.
#include "launch_chain.cuh"
#include "probes.hpp"
#include "report/recorder.hpp"

namespace sluice::gpu_probe {
namespace {

constexpr int steps = 1000;

void probe_ties(const Device& device, Recorder& recorder, const std::string& body, int wave,
                double body_us) {
  const long long cycles = device.cycles(body_us);
  const auto range = [body_us](double low, double high) {
    return Range{body_us + low, body_us + high};
  };
  LaunchChain plain(wave, steps, cycles, Tie::stream);
  recorder.row(body + ", stream", "us/step", measure([&] { return plain.time_stream(); }),
               range(1.5, 5));
  // Long enough for the host to fill the queue: 1,000 launches take it some 3 ms.
  const long long head_start = device.cycles(10'000);
  recorder.row(body + ", stream, queued beforehand", "us/step",
               measure([&] { return plain.time_queued(head_start); }), range(0.7, 3));
  recorder.row(body + ", graph", "us/step", measure([&] { return plain.time_graph(); }),
               range(0.5, 2));
  if (device.major >= 9) {
    LaunchChain dependent(wave, steps, cycles, Tie::programmatic);
    recorder.row(body + ", programmatic dependent launch", "us/step",
                 measure([&] { return dependent.time_stream(); }), range(0.5, 5));
    recorder.row(body + ", programmatic, queued beforehand", "us/step",
                 measure([&] { return dependent.time_queued(head_start); }), range(0.3, 2));
    recorder.row(body + ", graph with programmatic edges", "us/step",
                 measure([&] { return dependent.time_graph(); }), range(0.3, 1.5));
    recorder.note(std::to_string(dependent.programmatic_edges()) + " of the graph's " +
                  std::to_string(steps - 1) + " edges are programmatic");
  }
  if (device.cooperative) {
    recorder.row(body + ", one cooperative kernel, grid.sync", "us/step",
                 measure([&] { return time_grid_sync(wave, steps, cycles); }), range(0.7, 3));
  }
}

}  // namespace

void probe_launch_gap(const Device& device, Recorder& recorder) {
  recorder.begin(
      1, "Launch gap",
      "a kernel ends with a flush of its writes and a signal to the front end, which starts the "
      "next: some L2 round trips (0.3 us each) and the front end's own work. In a stream the host "
      "needs 2 to 3 us a launch (2.1 us read for H100, 3.8 for B200); in a graph or a filled queue "
      "only the device's share is left (1.3 and 0.8 us read). Programmatic launches hide the "
      "start-up but not the flush and the signal. grid.sync is one atomic to the L2, one poll and "
      "two block barriers: 1 to 2 us.");
  const int wave = chain_wave(device);
  recorder.note("a wave is " + std::to_string(wave) + " blocks of " +
                std::to_string(chain_threads) + " threads; 2 us bodies include their 2 us");
  probe_ties(device, recorder, "empty", wave, 0);
  probe_ties(device, recorder, "2 us", wave, 2);
  if (device.major < 9) {
    recorder.note("programmatic dependent launch needs compute capability 9.0; left out");
  }
  if (!device.cooperative) {
    recorder.note("this GPU has no cooperative launch; grid.sync left out");
  }
}

}  // namespace sluice::gpu_probe
