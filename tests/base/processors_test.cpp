#include "base/processors.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "base/scratch_folder.hpp"

namespace sluice {
namespace {

bool is_same(const cpu_set_t& a, const cpu_set_t& b) {
  return CPU_EQUAL(&a, &b) != 0;
}

cpu_set_t allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

// A root with the files of control groups.
class ProcessorQuota : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_.path().string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::optional<uint32_t> quota() const { return processor_quota(root_.path()); }

  ScratchFolder root_;
};

TEST_F(ProcessorQuota, IsNoneWhereNoGroupSetsOne) {
  EXPECT_EQ(quota(), std::nullopt);
  write("/proc/self/cgroup", "0::/\nnonsense\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("/sys/fs/cgroup/cpu.max", "200000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(ProcessorQuota, OfVersion2IsRoundedUp) {
  write("/proc/self/cgroup", "0::/\n");
  for (const auto& [text, processors] : {std::pair("200000 100000\n", 2U),
                                         {"150000 100000\n", 2U},
                                         {"1000 100000\n", 1U},
                                         {"6400000 100000\n", 64U}}) {
    write("/sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(quota(), processors) << text;
  }
}

TEST_F(ProcessorQuota, IsTheLeastOnTheWayUp) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
  write("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/c/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(ProcessorQuota, OfVersion1IsThatOfTheControllerCpu) {
  write("/proc/self/cgroup", "5:cpuacct,cpu:/docker/f00\n4:cpuset:/\n0::/\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(ProcessorQuota, BoundsTheProcessorsThatAreAvailable) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  errno = 7;
  EXPECT_EQ(available_processors(root_.path()), 1U);
  EXPECT_EQ(errno, 7);
  write("/sys/fs/cgroup/cpu.max", "100000000 100000\n");
  const cpu_set_t set = allowed();
  EXPECT_EQ(available_processors(root_.path()), static_cast<uint32_t>(CPU_COUNT(&set)));
}

TEST(Processors, AThreadThatMovedAwayMayStillRunOnAllOfThem) {
  const cpu_set_t before = allowed();
  errno = 7;
  move_away(std::vector<int>{current_processor()});
  EXPECT_EQ(errno, 7);
  EXPECT_TRUE(is_same(allowed(), before));
}

TEST(Processors, AThreadStaysWhereAllAreTaken) {
  const cpu_set_t before = allowed();
  std::vector<int> taken{no_processor, CPU_SETSIZE};
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    taken.push_back(processor);
  move_away(taken);
  EXPECT_TRUE(is_same(allowed(), before));
}

}  // namespace
}  // namespace sluice
