#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sluice::gpu_probe {
namespace {

double quantile(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = place - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

}  // namespace

Summary summarize(std::vector<double> samples) {
  if (samples.empty()) {
    throw std::invalid_argument("summarize: no samples");
  }
  if (!std::all_of(samples.begin(), samples.end(), [](double s) { return std::isfinite(s); })) {
    throw std::invalid_argument("summarize: a sample is not finite");
  }
  std::sort(samples.begin(), samples.end());
  Summary summary;
  summary.count = samples.size();
  summary.median = quantile(samples, 0.5);
  summary.lower_quartile = quantile(samples, 0.25);
  summary.upper_quartile = quantile(samples, 0.75);
  summary.minimum = samples.front();
  summary.maximum = samples.back();
  return summary;
}

}  // namespace sluice::gpu_probe
