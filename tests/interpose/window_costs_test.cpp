// What is kept of a device's windows, as the shim reads it.
#include "interpose/window_costs.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/cache_folder.hpp"
#include "base/scratch_folder.hpp"

namespace sluice::interpose {
namespace {

class WindowCosts : public testing::Test {
 protected:
  WindowCosts() { setenv("SLUICE_WINDOW_COSTS", scratch.file("costs").c_str(), 1); }
  ~WindowCosts() override { unsetenv("SLUICE_WINDOW_COSTS"); }
  void keep(const std::string& text) const {
    CacheFolder(scratch.file("costs")).store("GPU--80-GB-", text);
  }

  const ScratchFolder scratch;
};

TEST_F(WindowCosts, AreReadByTheNameOfTheDevice) {
  keep("plain_launch_ns 1900\nwindow_ns 15000\n");
  const auto costs = measured_costs("GPU (80 GB)");
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->plain_launch, 1'900);
  EXPECT_EQ(costs->window, 15'000);
  EXPECT_FALSE(measured_costs("another GPU"));
}

TEST_F(WindowCosts, AreNothingWhereTheFileIsOfAnotherKind) {
  for (const char* text :
       {"", "window_ns 1\nplain_launch_ns 2\n", "plain_launch_ns 0\nwindow_ns 1\n",
        "plain_launch_ns 5\nwindow_ns -3\n", "plain_launch_ns 5\n",
        "plain_launch_ns 5\nwindow_ns 99999999999999999999\n"}) {
    keep(text);
    EXPECT_FALSE(measured_costs("GPU (80 GB)")) << text;
  }
}

}  // namespace
}  // namespace sluice::interpose
