// gpu-probe: measures what the megakernel's design rests on, on the GPU that is there.
//
//   gpu-probe [--only 1,3] [--output FOLDER] [--commit NAME] [--device]
//
// Exit status: 0 all probes ran and all results were right; 1 a probe failed or the command line is
// wrong; 2 there is no GPU.
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "device.cuh"
#include "probes.hpp"
#include "report/machine.hpp"
#include "report/recorder.hpp"

namespace sluice::gpu_probe {
namespace {

// A probe does not start any more after so long, so that a slow GPU's run ends in its five minutes.
constexpr double last_start_s = 240;

struct Probe {
  int number;
  void (*run)(const Device&, Recorder&);
};

constexpr std::array<Probe, 8> probes = {{{1, probe_launch_gap},
                                          {2, probe_tickets},
                                          {3, probe_flags},
                                          {4, probe_barriers},
                                          {5, probe_task_overhead},
                                          {6, probe_order},
                                          {7, probe_visibility},
                                          {8, probe_registers}}};

struct Options {
  std::set<int> only;  // empty: all
  std::string output = "docs/results";
  std::string commit;
  bool device_only = false;
};

// Fills the options, or says in one line what is wrong with the command line.
std::string parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--device") {
      options.device_only = true;
    } else if (word == "--output" && has_value) {
      options.output = words[++i];
    } else if (word == "--commit" && has_value) {
      options.commit = words[++i];
    } else if (word == "--only" && has_value) {
      for (const char c : std::string(words[++i])) {
        if (c >= '1' && c <= '8') {
          options.only.insert(c - '0');
        } else if (c != ',') {
          return "--only takes numbers from 1 to 8, as in 1,3";
        }
      }
    } else {
      return "'" + word +
             "' is not understood; usage: gpu-probe [--only 1,3] [--output FOLDER] "
             "[--commit NAME] [--device]";
    }
  }
  return "";
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

std::string fixed(double value, const char* format) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

void describe(const Device& device, const Options& options, Report& report) {
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  check(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
  report.gpu = device.name;
  report.date = today();
  report.facts = {
      {"GPU", device.name},
      {"compute capability", std::to_string(device.major) + '.' + std::to_string(device.minor)},
      {"SMs", std::to_string(device.sm_count)},
      {"L2 (MiB)", fixed(static_cast<double>(device.l2_bytes) / (1 << 20), "%.1f")},
      {"memory bandwidth by clock and width (GB/s)", fixed(device.memory_gb_per_s, "%.0f")},
      {"SM clock measured at work (MHz)", fixed(device.cycles_per_ns * 1000, "%.0f")},
      {"CUDA of the driver", version_text(driver)},
      {"CUDA of the runtime", version_text(runtime)},
      {"commit", options.commit.empty() ? source_commit(".") : options.commit},
      {"repeats", std::to_string(repeats)}};
  for (const auto& fact : smi_facts(device.bus)) {
    report.facts.push_back(fact);
  }
  for (const auto& [name, value] : report.facts) {
    std::cout << name << ": " << value << '\n';
  }
}

// Runs one probe. False if the GPU can't be used any more: an error of a kernel stays with the
// context.
bool run_probe(const Probe& probe, const Device& device, Recorder& recorder) {
  try {
    probe.run(device, recorder);
  } catch (const ProbeFailure& failure) {
    recorder.fail(failure.what());
    static_cast<void>(cudaGetLastError());  // an error that does not stay is forgotten here
    return cudaDeviceSynchronize() == cudaSuccess;
  }
  return true;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) {
    throw ProbeFailure("writing " + path.string() + " failed");
  }
  std::cout << "wrote " << path.string() << '\n';
}

void run_probes(const Options& options, const Device& device, Report& report, Recorder& recorder) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (const Probe& probe : probes) {
    if (!options.only.empty() && options.only.count(probe.number) == 0) {
      continue;
    }
    if (seconds() > last_start_s) {
      recorder.begin(probe.number, "left out", "nothing: the run's time was used up");
      recorder.fail("not started after " + fixed(seconds(), "%.0f") + " s; run it with --only " +
                    std::to_string(probe.number));
      continue;
    }
    const double start = seconds();
    const bool usable = run_probe(probe, device, recorder);
    recorder.note("took " + fixed(seconds() - start, "%.1f") + " s");
    if (!usable) {
      recorder.note("the GPU's context is lost; the probes after this one were not run");
      break;
    }
  }
  report.facts.emplace_back("time of the run (s)", fixed(seconds(), "%.0f"));
}

int run(const Options& options) {
  std::string reason;
  if (count_devices(reason) == 0) {
    std::cout << "gpu-probe: no GPU here (" << reason << ")\n";
    return 2;
  }
  const Device device = open_device(0);
  if (options.device_only) {
    std::cout << "gpu-probe: " << device.name << ", compute capability " << device.major << '.'
              << device.minor << '\n';
    return 0;
  }
  Report report;
  Recorder recorder(report, std::cout);
  describe(device, options, report);
  run_probes(options, device, report, recorder);
  const std::filesystem::path folder = options.output;
  std::filesystem::create_directories(folder);
  const std::string stem = result_stem(report.gpu, report.date);
  write_file(folder / (stem + ".json"), to_json(report));
  write_file(folder / (stem + ".md"), to_markdown(report));
  return recorder.failed() ? 1 : 0;
}

}  // namespace
}  // namespace sluice::gpu_probe

int main(int count, char** words) {
  using namespace sluice::gpu_probe;
  Options options;
  const std::string mistake = parse(count, words, options);
  if (!mistake.empty()) {
    std::cerr << "gpu-probe: " << mistake << '\n';
    return 1;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "gpu-probe: " << error.what() << '\n';
    return 1;
  }
}
