#include "interpose/window_costs.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/cache_folder.hpp"
#include "base/log.hpp"

namespace sluice::interpose {
namespace {

constexpr uint64_t most_bytes = 4096;
constexpr int64_t longest = 1'000'000'000;  // nanoseconds

// file_of() is the name as gpu-day writes it.
std::string file_of(std::string device) {
  std::ranges::replace_if(
      device, [](unsigned char letter) { return std::isalnum(letter) == 0 || letter > 127; }, '-');
  return device;
}

// read_number() takes "<name> <nanoseconds>".
bool read_number(std::istream& text, const char* name, int64_t& value) {
  std::string found;
  return text >> found >> value && found == name && value > 0 && value < longest;
}

}  // namespace

std::optional<megakernel::WindowBackend::Costs> measured_costs(const std::string& device) {
  const std::string folder = cache_path("SLUICE_WINDOW_COSTS", "window-costs");
  if (folder.empty() || device.empty()) return std::nullopt;
  const std::optional<std::string> text = CacheFolder(folder, most_bytes).load(file_of(device));
  if (!text) return std::nullopt;
  std::istringstream stream(*text);
  megakernel::WindowBackend::Costs costs;
  if (read_number(stream, "plain_launch_ns", costs.plain_launch) &&
      read_number(stream, "window_ns", costs.window)) {
    return costs;
  }
  log::warning("{}/{} is not as scripts/gpu-day writes it: it counts for nothing", folder,
               file_of(device));
  return std::nullopt;
}

}  // namespace sluice::interpose
