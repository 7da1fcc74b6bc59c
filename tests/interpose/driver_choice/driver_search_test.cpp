// Which driver is chosen, and what is said where there is none.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "e2e/process.hpp"
#include "interpose/driver/find_driver.hpp"

namespace sluice::interpose {
namespace {

// Variable sets one for as long as it lives; nullptr unsets it.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    if (before != nullptr) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

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
  const std::string path = lib + "/cpu:" + other;
  const Variable folders("LD_LIBRARY_PATH", path.c_str());
  const std::vector<std::string> candidates = gpu_driver_candidates(lib);
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates.front(), other + "/libcuda.so.1");
}

class SignsOfAGpu : public ::testing::Test {
 protected:
  bool shown_by(const std::vector<std::string>& files) {
    const ScratchFolder scratch;
    for (const std::string& file : files) {
      const std::filesystem::path path(scratch.file(file));
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << "";
    }
    return shows_gpu(scratch.file(""));
  }
  const Variable visible_{"CUDA_VISIBLE_DEVICES", nullptr};
};

TEST_F(SignsOfAGpu, AreFilesOfDevices) {
  EXPECT_FALSE(shown_by({}));
  EXPECT_FALSE(shown_by({"dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia-caps/nvidia-cap1"}));
  EXPECT_TRUE(shown_by({"dev/nvidia0"}));
  EXPECT_TRUE(shown_by({"dev/nvidia13"}));
  EXPECT_TRUE(shown_by({"dev/dxg"}));
}

// The kernel module is seen in every container; the files are made at the first use by a command.
TEST_F(SignsOfAGpu, OrTheKernelsModuleWithWhatMakesTheFiles) {
  const std::string of_the_module = "proc/driver/nvidia/gpus/0000:01:00.0/information";
  EXPECT_FALSE(shown_by({of_the_module}));
  EXPECT_FALSE(shown_by({"usr/bin/nvidia-modprobe"}));
  EXPECT_TRUE(shown_by({of_the_module, "usr/bin/nvidia-modprobe"}));
}

TEST_F(SignsOfAGpu, AreNoneWhereTheProgramMaySeeNoDevice) {
  for (const char* hidden : {"", "-1", "-1,0", "NoDevFiles"}) {
    const Variable visible("CUDA_VISIBLE_DEVICES", hidden);
    EXPECT_FALSE(shown_by({"dev/nvidia0"})) << hidden;
  }
  for (const char* shown : {"0", "1,-1", "GPU-8932f937", "MIG-1/2/3"}) {
    const Variable visible("CUDA_VISIBLE_DEVICES", shown);
    EXPECT_TRUE(shown_by({"dev/nvidia0"})) << shown;
  }
}

}  // namespace
}  // namespace sluice::interpose
