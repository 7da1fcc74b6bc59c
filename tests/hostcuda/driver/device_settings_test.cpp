// What SLUICE_CPU_COMPUTE and SLUICE_CPU_MEMORY may hold.
#include "hostcuda/driver/device/device_settings.hpp"

#include <gtest/gtest.h>

namespace sluice::hostcuda {
namespace {

TEST(DeviceSettings, ComputeCapabilitiesAreTwoNumbers) {
  const auto read = read_compute("8.9");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->major, 8);
  EXPECT_EQ(read->minor, 9);
  EXPECT_EQ(read_compute("12.0")->major, 12);
  for (const char* text : {"", "8", "8.", ".9", "8.10", "0.1", "100.0", "8.9a", "sm_89", "-8.9"})
    EXPECT_FALSE(read_compute(text)) << text;
}

TEST(DeviceSettings, BytesHaveUnitsOf1024) {
  EXPECT_EQ(read_bytes("1"), 1u);
  EXPECT_EQ(read_bytes("4096B"), 4096u);
  EXPECT_EQ(read_bytes("3K"), 3072u);
  EXPECT_EQ(read_bytes("512MiB"), size_t{512} << 20);
  EXPECT_EQ(read_bytes("1G"), size_t{1} << 30);
  EXPECT_EQ(read_bytes("2TB"), size_t{2} << 40);
  for (const char* text : {"", "0", "G", "-1", "1X", "1GG", "1iB", "1 G", "99999999999T"})
    EXPECT_FALSE(read_bytes(text)) << text;
}

}  // namespace
}  // namespace sluice::hostcuda
