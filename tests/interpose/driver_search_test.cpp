// Which driver is chosen, and what is said where there is none.
#include "interpose/driver_search.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "e2e/process.hpp"

namespace sluice::interpose {
namespace {

TEST(DeviceChoice, KnowsThreeWords) {
  EXPECT_EQ(device_choice("").value(), DeviceChoice::automatic);
  EXPECT_EQ(device_choice("auto").value(), DeviceChoice::automatic);
  EXPECT_EQ(device_choice("gpu").value(), DeviceChoice::gpu);
  EXPECT_EQ(device_choice("cpu").value(), DeviceChoice::cpu);
  EXPECT_EQ(device_choice("tpu").error().line(), "'tpu' is no device; use auto, gpu or cpu");
}

TEST(DriverSearch, TakesTheCpuDeviceBesideTheShim) {
  const auto found = find_driver(DeviceChoice::cpu, e2e::build_path("lib"));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->is_cpu_device);
  EXPECT_EQ(found->path, e2e::build_path("lib/cpu/libcuda.so.1"));
}

TEST(DriverSearch, SaysWhereTheCpuDeviceIsMissing) {
  const ScratchFolder scratch;
  const auto found = find_driver(DeviceChoice::cpu, scratch.file("lib"));
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().line(), scratch.file("lib") +
                                      "/cpu/libcuda.so.1: the CPU device is missing; build it "
                                      "with scripts/build");
}

TEST(DriverSearch, NeverTakesSluicesOwnLibrariesForAGpuDriver) {
  const ScratchFolder scratch;
  const std::string lib = scratch.file("lib");
  const std::string other = scratch.file("other");
  std::filesystem::create_directories(lib + "/cpu");
  std::filesystem::create_directories(other);
  std::ofstream(lib + "/cpu/libcuda.so.1") << "own";
  std::ofstream(other + "/libcuda.so.1") << "driver";
  const char* before = std::getenv("LD_LIBRARY_PATH");
  const std::string saved = before == nullptr ? "" : before;
  setenv("LD_LIBRARY_PATH", (lib + "/cpu:" + other).c_str(), 1);
  const std::vector<std::string> candidates = gpu_driver_candidates(lib);
  setenv("LD_LIBRARY_PATH", saved.c_str(), 1);
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates.front(), other + "/libcuda.so.1");
}

}  // namespace
}  // namespace sluice::interpose
