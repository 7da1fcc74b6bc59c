// The driver is chosen without initialising it: no cuInit before the program's own, by launcher or
// shim, and what that one tells decides where `auto` had only signs of a GPU.
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

const std::string stand_in = build_path("tests/stand_in_driver/libcuda.so.1");
const std::string other_runtime = build_path("tests/stand_in_driver/libcudart.so.13");
const std::string on_stand_in = "version 12345\n";
const std::string on_cpu_device = "version 13000\n";

// By launcher, or by the shim alone; with a device chosen, "" where none is.
struct Way {
  const char* name;
  bool by_launcher;
  std::string device;
};

class NoEarlyInit : public ::testing::TestWithParam<Way> {
 protected:
  NoEarlyInit() {
    std::filesystem::create_directories(scratch_.file("root/dev"));
    std::ofstream(scratch_.file("root/dev/nvidia0"));
    environment_ = {
        {"CUDA_VISIBLE_DEVICES", "0"},
        {"LD_LIBRARY_PATH", std::filesystem::path(stand_in).parent_path().string()},
        {"SLUICE_DEVICE_FILES", scratch_.file("root")},
        {"SLUICE_LOG", "info"},
        {"STAND_IN_LOG", scratch_.file("log")},
    };
  }

  Outcome run_program(const std::vector<std::string>& arguments) {
    std::vector<std::string> command;
    if (GetParam().by_launcher) {
      command = {build_path("bin/sluice"), "run"};
      if (!GetParam().device.empty())
        command.insert(command.end(), {"--device", GetParam().device});
      command.emplace_back("--");
    } else {
      environment_["LD_PRELOAD"] = build_path("lib/libsluice.so");
      environment_["SLUICE_DEVICE"] = GetParam().device;
    }
    command.push_back(build_path("tests/asks_then_forks"));
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command, environment_);
  }

  // How often cuInit was called in the stand-in.
  size_t initialisations() const {
    std::ifstream log(scratch_.file("log"));
    size_t count = 0;
    for (std::string line; std::getline(log, line);)
      ++count;
    return count;
  }

  const ScratchFolder scratch_;
  std::map<std::string, std::string> environment_;
};

TEST_P(NoEarlyInit, AProgramThatOnlyAsksForTheVersionInitialisesNothing) {
  const Outcome outcome = run_program({"nothing"});
  EXPECT_EQ(outcome.output, on_stand_in) << outcome.errors;
  EXPECT_EQ(initialisations(), 0u);
}

TEST_P(NoEarlyInit, TheProgramsOwnIsTheOnlyOne) {
  const Outcome outcome = run_program({"init"});
  EXPECT_EQ(outcome.output, on_stand_in + "cuInit 0\nstand-in\n") << outcome.errors;
  EXPECT_EQ(initialisations(), 1u);
}

TEST_P(NoEarlyInit, AChildThatInitialisesHasCuda) {
  const Outcome outcome = run_program({"fork"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, on_stand_in + "cuInit 0\nstand-in\n") << outcome.errors;
  EXPECT_EQ(initialisations(), 1u);
}

std::string name_of(const ::testing::TestParamInfo<Way>& test) {
  return test.param.name;
}

INSTANTIATE_TEST_SUITE_P(Ways, NoEarlyInit,
                         ::testing::Values(Way{"LauncherAuto", true, ""},
                                           Way{"LauncherGpu", true, "gpu"},
                                           Way{"ShimAuto", false, ""},
                                           Way{"ShimGpu", false, "gpu"}),
                         name_of);

using ChoiceAtInit = NoEarlyInit;

TEST_P(ChoiceAtInit, TheCpuDeviceTakesThePlaceOfADriverWithoutADevice) {
  for (const char* devices : {"none", "0"}) {
    environment_["STAND_IN_DEVICES"] = devices;
    for (const char* what : {"init", "fork"}) {
      const Outcome outcome = run_program({what});
      EXPECT_EQ(outcome.status, 0);
      EXPECT_EQ(outcome.output.rfind(on_stand_in + "cuInit 0\n", 0), 0u) << outcome.output;
      EXPECT_NE(outcome.errors.find("the CPU device takes its place"), std::string::npos)
          << outcome.errors;
      EXPECT_NE(outcome.output.find("CPU"), std::string::npos) << outcome.output;
    }
  }
  EXPECT_EQ(initialisations(), 4u);
}

// NVIDIA's runtime can't work on the CPU device: it gets its driver's own error.
TEST_P(ChoiceAtInit, ARuntimeOfNvidiasKeepsItsDriver) {
  environment_["STAND_IN_DEVICES"] = "none";
  const Outcome outcome = run_program({"init", other_runtime});
  EXPECT_EQ(outcome.output, on_stand_in + "cuInit 100\n") << outcome.errors;
  EXPECT_NE(outcome.errors.find("use --device cpu"), std::string::npos) << outcome.errors;
}

TEST_P(ChoiceAtInit, WithoutSignsOfAGpuItIsTheCpuDeviceAtOnce) {
  std::filesystem::remove(scratch_.file("root/dev/nvidia0"));
  const Outcome outcome = run_program({"fork"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output.rfind(on_cpu_device + "cuInit 0\n", 0), 0u) << outcome.errors;
  EXPECT_EQ(initialisations(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, ChoiceAtInit,
                         ::testing::Values(Way{"LauncherAuto", true, ""},
                                           Way{"ShimAuto", false, ""}),
                         name_of);

}  // namespace
}  // namespace sluice::e2e
