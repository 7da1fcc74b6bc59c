#include "base/processors.hpp"

#include <cerrno>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

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
