// Processor time of the first analysis of each kernel and launch shape, and how precise its
// footprint is.
//   analysis_bench FILE...            each kernel of programs and PTX files, with one shape
//   analysis_bench --journals FILE... each kernel and shape that journals of real runs hold, in
//                                     their order; the programs are where the journals say
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/kernel_analysis.hpp"
#include "dro/journal/journal_reader.hpp"
#include "dro/recorded/footprint_classes.hpp"
#include "ptx/fat_binary.hpp"
#include "ptx/parser.hpp"

namespace {

using namespace sluice;

double thread_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6;
}

// class_of() is the least precise of a footprint's accesses.
std::string class_of(const analysis::Footprint& footprint) {
  if (footprint.opaque()) return "opaque";
  auto worst = analysis::Precision::exact;
  for (const analysis::ArgumentFootprint& argument : footprint.arguments) {
    for (const analysis::Access* access :
         {&argument.reads, &argument.may_writes, &argument.must_writes}) {
      worst = std::max(worst, access->precision);
    }
  }
  static constexpr const char* names[] = {"exact", "bounded", "whole buffer"};
  return names[static_cast<int>(worst)];
}

struct Measured {
  double milliseconds = 0;
  std::string kernel;
};

struct Measurements {
  std::vector<Measured> times;
  std::map<std::string, int> classes;
};

constexpr size_t slowest_listed = 10;

// measure() analyses one shape; the time counts from `begin`.
void measure(analysis::KernelAnalysis& analysis, const analysis::LaunchShape& shape, double begin,
             Measurements& all) {
  const analysis::Footprint footprint = analysis.footprint(shape);
  all.times.push_back({thread_milliseconds() - begin, analysis.signature().kernel});
  ++all.classes[class_of(footprint)];
  if (std::getenv("ANALYSIS_BENCH_LIST") != nullptr) {
    fmt::print("{:14} {:8.1f} ms {}\n", class_of(footprint), all.times.back().milliseconds,
               analysis.signature().kernel);
  }
}

std::vector<ptx::Module> modules_of(const std::string& file) {
  std::vector<ptx::Module> modules;
  const auto images = ptx::read_file(file);
  if (!images) {
    fmt::print(stderr, "{}\n", images.error().line());
    return modules;
  }
  for (const ptx::CodeImage& image : *images) {
    const auto texts = image.best_ptx();
    if (!texts) continue;
    for (const std::string& text : *texts) {
      auto module = ptx::parse(text);
      if (module) {
        modules.push_back(std::move(*module));
      } else {
        fmt::print(stderr, "{}\n", module.error().line());
      }
    }
  }
  return modules;
}

void measure_file(const std::string& file, Measurements& all) {
  for (const ptx::Module& module : modules_of(file)) {
    for (const ptx::Function* kernel : module.kernels()) {
      const double begin = thread_milliseconds();
      auto analysis = analysis::KernelAnalysis::create(module, kernel->name);
      if (!analysis) {
        ++all.classes["not understood"];
        continue;
      }
      analysis::LaunchShape shape{.grid = {16, 16, 1}, .block = {16, 16, 1}};
      shape.shape_values.assign((*analysis)->signature().shape_scalars.size(), 256);
      measure(**analysis, shape, begin, all);
    }
  }
}

void measure_journal(const std::string& file, Measurements& all) {
  const auto reader = dro::JournalReader::open(file);
  const auto shapes = dro::classify_footprints(file);
  if (!reader || !shapes) {
    fmt::print(stderr, "{}\n", (reader ? shapes.error() : reader.error()).line());
    return;
  }
  const std::string& line = reader->header().program;
  const auto modules = modules_of(line.substr(0, line.find(' ')));
  std::map<std::string, std::unique_ptr<analysis::KernelAnalysis>> analyses;
  for (const dro::ClassifiedShape& wanted : *shapes) {
    const auto module = std::find_if(modules.begin(), modules.end(), [&](const auto& candidate) {
      return candidate.find_function(wanted.kernel) != nullptr;
    });
    if (module == modules.end()) continue;
    const double begin = thread_milliseconds();
    auto& analysis = analyses[wanted.kernel];
    if (analysis == nullptr) {
      auto created = analysis::KernelAnalysis::create(*module, wanted.kernel);
      if (created) analysis = std::move(*created);
    }
    if (analysis == nullptr) {
      ++all.classes["not understood"];
      continue;
    }
    analysis::LaunchShape shape = wanted.shape;
    // An opaque launch's scalars are not in the journal.
    shape.shape_values.resize(analysis->signature().shape_scalars.size(), 256);
    measure(*analysis, shape, begin, all);
  }
}

}  // namespace

int main(int count, char** arguments) {
  Measurements all;
  const bool journals = count > 1 && std::string(arguments[1]) == "--journals";
  for (int i = journals ? 2 : 1; i < count; ++i)
    journals ? measure_journal(arguments[i], all) : measure_file(arguments[i], all);
  auto& times = all.times;
  if (times.empty()) {
    fmt::print(stderr, "analysis_bench: no kernel was analysed; give programs or PTX files\n");
    return 1;
  }
  std::sort(times.begin(), times.end(),
            [](const Measured& a, const Measured& b) { return a.milliseconds < b.milliseconds; });
  const auto at = [&](double share) {
    return times[size_t(share * double(times.size() - 1))].milliseconds;
  };
  fmt::print("{} pairs of kernel and shape{}\n", times.size(),
             journals ? "" : ": grid (16, 16), block (16, 16), scalars 256");
  fmt::print(
      "lifting and first analysis: median {:.1f} ms, p95 {:.1f} ms, p99 {:.1f} ms, max {:.1f} ms "
      "({})\n",
      at(0.5), at(0.95), at(0.99), times.back().milliseconds, times.back().kernel);
  for (size_t i = times.size(); i-- > 0 && times.size() - i <= slowest_listed;)
    fmt::print("{:10.1f} ms  {}\n", times[i].milliseconds, times[i].kernel);
  for (const auto& [name, kernels] : all.classes)
    fmt::print("{:14} {}\n", name, kernels);
}
