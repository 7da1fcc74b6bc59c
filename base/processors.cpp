#include "base/processors.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include <sched.h>

#include "base/keep_errno.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

uint32_t permitted_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

// read_number() reads one of microseconds. "max" and -1, where there is no limit, are none.
std::optional<double> read_number(std::istream& file) {
  double number = 0;
  if (file >> number && number > 0) return number;
  return std::nullopt;
}

// What one group grants by itself, in processors.
std::optional<double> share_of(const fs::path& group) {
  std::ifstream both(group / "cpu.max");
  std::ifstream quota_file(group / "cpu.cfs_quota_us");
  std::ifstream period_file(group / "cpu.cfs_period_us");
  const bool is_version_2 = both.is_open();
  const std::optional<double> quota = read_number(is_version_2 ? both : quota_file);
  const std::optional<double> period = read_number(is_version_2 ? both : period_file);
  if (!quota || !period) return std::nullopt;
  return *quota / *period;
}

// A line of /proc/self/cgroup is number:controllers:path, without controllers for version 2.
std::vector<fs::path> mounts_of(const std::string& controllers, const fs::path& all) {
  if (controllers.empty()) return {all, all / "unified"};
  if ((',' + controllers + ',').find(",cpu,") == std::string::npos) return {};
  return {all / "cpu", all / controllers};
}

}  // namespace

uint32_t available_processors(const std::string& root) {
  const uint32_t permitted = permitted_processors();
  return std::min(permitted, processor_quota(root).value_or(permitted));
}

std::optional<uint32_t> processor_quota(const std::string& root) {
  const KeepErrno keep;
  double least = std::numeric_limits<double>::infinity();
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    // Each group on the way up limits those below it. A container may show its own group as the
    // topmost one and still tell its path on the host: what does not exist is passed over.
    const fs::path path = fs::path(line.substr(second + 1)).relative_path();
    for (const fs::path& mount :
         mounts_of(line.substr(first + 1, second - first - 1), root + "/sys/fs/cgroup")) {
      for (fs::path group = path;; group = group.parent_path()) {
        least = std::min(least, share_of(mount / group).value_or(least));
        if (group.empty()) break;
      }
    }
  }
  if (least >= std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return static_cast<uint32_t>(std::max(1.0, std::ceil(least)));
}

int current_processor() {
  const KeepErrno keep;
  const int processor = sched_getcpu();
  return processor < 0 ? no_processor : processor;
}

void move_away(std::span<const int> taken) {
  const KeepErrno keep;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  for (const int processor : taken) {
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_CLR(processor, &others);
  }
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace sluice
