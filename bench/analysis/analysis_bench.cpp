// Processor time of the first analysis of each kernel in programs and PTX files, one shape each,
// and how precise its footprint is: analysis_bench FILE...
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/kernel_analysis.hpp"
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

void measure(const ptx::Module& module, const ptx::Function& kernel, std::vector<Measured>& times,
             std::map<std::string, int>& classes) {
  const double begin = thread_milliseconds();
  auto analysis = analysis::KernelAnalysis::create(module, kernel.name);
  if (!analysis) {
    ++classes["not understood"];
    return;
  }
  analysis::LaunchShape shape{.grid = {16, 16, 1}, .block = {16, 16, 1}};
  shape.shape_values.assign((*analysis)->signature().shape_scalars.size(), 256);
  ++classes[class_of((*analysis)->footprint(shape))];
  times.push_back({thread_milliseconds() - begin, kernel.name});
}

void measure_all(const std::vector<std::string>& texts, std::vector<Measured>& times,
                 std::map<std::string, int>& classes) {
  for (const std::string& text : texts) {
    const auto module = ptx::parse(text);
    if (!module) {
      fmt::print(stderr, "{}\n", module.error().line());
      continue;
    }
    for (const ptx::Function* kernel : module->kernels())
      measure(*module, *kernel, times, classes);
  }
}

}  // namespace

int main(int count, char** files) {
  std::vector<Measured> times;
  std::map<std::string, int> classes;
  for (int i = 1; i < count; ++i) {
    const auto images = ptx::read_file(files[i]);
    if (!images) {
      fmt::print(stderr, "{}\n", images.error().line());
      continue;
    }
    for (const ptx::CodeImage& image : *images) {
      const auto texts = image.best_ptx();
      if (texts) measure_all(*texts, times, classes);
    }
  }
  if (times.empty()) {
    fmt::print(stderr, "analysis_bench: no kernel was analysed; give programs or PTX files\n");
    return 1;
  }
  std::sort(times.begin(), times.end(),
            [](const Measured& a, const Measured& b) { return a.milliseconds < b.milliseconds; });
  const auto at = [&](double share) {
    return times[size_t(share * double(times.size() - 1))].milliseconds;
  };
  fmt::print("{} kernels, grid (16, 16), block (16, 16), scalars 256\n", times.size());
  fmt::print("lifting and first analysis: median {:.1f} ms, p99 {:.1f} ms, max {:.1f} ms ({})\n",
             at(0.5), at(0.99), times.back().milliseconds, times.back().kernel);
  for (const auto& [name, kernels] : classes)
    fmt::print("{:14} {}\n", name, kernels);
}
