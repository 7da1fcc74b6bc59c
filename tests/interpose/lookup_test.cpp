// However a program looks the driver up, it gets the shim.
#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

std::string found_in(const std::string& way, const std::string& path) {
  const Outcome outcome = sluice_run({}, {build_path("tests/interpose_lookup"), way, path});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  return outcome.output;
}

TEST(Lookup, FindsTheShimByEveryName) {
  EXPECT_EQ(found_in("global", ""), "libsluice.so\n");
  EXPECT_EQ(found_in("plain", "libcuda.so.1"), "libsluice.so\n");
  EXPECT_EQ(found_in("plain", "libcuda.so"), "libsluice.so\n");
  EXPECT_EQ(found_in("deepbind", "libcuda.so.1"), "libsluice.so\n");
  EXPECT_EQ(found_in("plain", build_path("lib/cpu/libcuda.so.1")), "libsluice.so\n");
  EXPECT_EQ(found_in("by-name", "libcuda.so.1"), "libsluice.so\n");
}

TEST(Lookup, LeavesOtherLibrariesAlone) {
  EXPECT_EQ(found_in("plain", "libm.so.6"), "nowhere\n");
  EXPECT_EQ(found_in("plain", "libcudart_of_nobody.so"), "nowhere\n");
}

TEST(Lookup, FindsTheDriverItselfWhereSluiceIsOff) {
  const Outcome outcome =
      sluice_run({"--off"}, {build_path("tests/interpose_lookup"), "plain", "libcuda.so.1"});
  EXPECT_EQ(outcome.output, "libcuda.so.1\n") << outcome.errors;
}

TEST(Call, LeavesErrnoAsItWas) {
  EXPECT_EQ(found_in("errno", "libcuda.so.1"), "77\n");
}

}  // namespace
}  // namespace sluice::e2e
