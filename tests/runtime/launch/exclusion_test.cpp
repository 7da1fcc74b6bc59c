// Launches that SLUICE_EXCLUDE names pass through.
#include "runtime/launch/exclusion.hpp"

#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PingPong;

Exclusion exclusion_of(const std::string& text) {
  Result<Exclusion> exclusion = Exclusion::read(text);
  EXPECT_TRUE(exclusion) << text;
  return exclusion.value_or(Exclusion());
}

TEST(Exclusion, NothingIsExcludedByNothing) {
  EXPECT_TRUE(exclusion_of("").is_empty());
  EXPECT_FALSE(exclusion_of("").holds("step", 1));
}

TEST(Exclusion, NumbersAndRangesHoldTheirEnds) {
  Exclusion exclusion = exclusion_of("3,10-12");
  std::vector<dro::LaunchNumber> held;
  for (dro::LaunchNumber number = 1; number < 20; ++number) {
    if (exclusion.holds("step", number)) held.push_back(number);
  }
  EXPECT_THAT(held, ElementsAre(3, 10, 11, 12));
}

TEST(Exclusion, PatternsNameKernelsAsTheDriverAndAsPeopleDo) {
  const std::string mangled = "_Z5scaleIfEvPKT_i";  // scale<float>
  for (const char* pattern : {"_Z5scale*", "scale<float>", "scale*", "other,sc?le<*"}) {
    EXPECT_TRUE(exclusion_of(pattern).holds(mangled, 1)) << pattern;
  }
  for (const char* pattern : {"scale", "float", "*double*"}) {
    EXPECT_FALSE(exclusion_of(pattern).holds(mangled, 1)) << pattern;
  }
}

TEST(Exclusion, WhatIsNoEntryIsNamed) {
  for (const char* entry : {"12-", "40-12", "12x", "99999999999999999999"}) {
    const Result<Exclusion> exclusion = Exclusion::read(std::string("step,") + entry);
    ASSERT_FALSE(exclusion) << entry;
    EXPECT_THAT(exclusion.error().line(), HasSubstr(std::string("'") + entry + "'"));
  }
}

class ExclusionTest : public testing::RuntimeTest {
 protected:
  PingPong program{64};  // outlives what the device still runs
};

TEST_F(ExclusionTest, AnExcludedLaunchKeepsItsPlaceBetweenWindows) {
  start({.exclusion = exclusion_of("2")});
  program.allocate_in(*runtime);
  device.pause();
  for (uint32_t step = 0; step < 3; ++step)
    program.launch(*runtime, kernels["step"], step);
  runtime->flush();
  EXPECT_THAT(device.events(), ElementsAre("window 0", "launch step", "window 0"));
  device.resume();
}

}  // namespace
}  // namespace sluice::runtime
