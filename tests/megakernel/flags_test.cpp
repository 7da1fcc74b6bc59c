// Flags of a window tell nothing of another window, however many each has.
#include "megakernel/host/flags.hpp"

#include <gtest/gtest.h>

namespace sluice::megakernel {
namespace {

TEST(EpochFlags, AreUnsetInEachWindowWhateverLayThereBefore) {
  EpochFlags flags;
  uint64_t epoch = 0;
  // Few flags lie apart and many do not, so that a flag's place changes from window to window.
  for (const uint32_t count : {4U, 5000U, 17U, 100'000U, 4096U, 4097U, 1U, 100'000U, 20'000U}) {
    flags.open(count);
    ++epoch;
    for (uint32_t flag = 0; flag < count; ++flag) {
      ASSERT_FALSE(flags.is_set(flag, epoch)) << flag << " of " << count;
      flags.set(flag, epoch);
      ASSERT_TRUE(flags.is_set(flag, epoch));
    }
  }
}

}  // namespace
}  // namespace sluice::megakernel
