// Programs whose answers the host knows, on the CPU device without and with Sluice.
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "e2e/journal_view.hpp"
#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

const std::string launch_errors = build_path("tests/e2e/device_answers/launch_errors");

// answers_rightly() runs a program that counts its own wrong answers, plain and under Sluice.
void answers_rightly(const char* program) {
  const std::vector<std::string> command = {
      build_path(std::string("tests/e2e/device_answers/") + program)};
  const Outcome plain = sluice_run({"--off"}, command);
  EXPECT_EQ(plain.output, "0 wrong\n") << plain.errors;
  const Outcome tasks = sluice_run({}, command);
  EXPECT_EQ(tasks.output, "0 wrong\n") << tasks.errors;
}

TEST(LaunchErrors, ComeFromTheCallItselfAlsoWhereLaunchesAreHeld) {
  answers_rightly("launch_errors");
}

// Where the megakernel runs windows no block is traced.
class GpuLaunchErrors : public testing::Test {
 protected:
  void SetUp() override { unsetenv("SLUICE_CHECK_FOOTPRINTS"); }
};

// The megakernel's code takes any block: what a launch may ask for is the driver's to say.
TEST_F(GpuLaunchErrors, ComeFromTheCallWhereTheMegakernelRunsWindows) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const Outcome outcome =
      sluice_run({"--megakernel", "wait", "--journal", journal}, {launch_errors});
  EXPECT_EQ(outcome.output, "0 wrong\n") << outcome.errors;
  // Each launch of it sets the kernel's attribute, to two values that allow it; the driver has to
  // accept the first under each.
  int allowed = 0;
  for (const nlohmann::json& launch : inspect_list("--launches", journal))
    allowed += launch["kernel"] == "_Z7limitedPiii" && launch["how"] == "tasks" ? 1 : 0;
  EXPECT_EQ(allowed, 4);
}

TEST_F(GpuLaunchErrors, AreThoseOfTheDriver) {
  const std::string folder = build_path("tests/stand_in_gpu");
  const std::map<std::string, std::string> environment = {
      {"LD_LIBRARY_PATH", folder},
      {"STAND_IN_BELOW", build_path("lib/cpu/libcuda.so.1")},
  };
  const std::vector<std::string> program = {launch_errors, "gpu"};
  for (const char* use : {"off", "wait"}) {
    const ScratchFolder scratch;
    const std::string journal = scratch.file("journal");
    std::vector<std::string> command = {build_path("bin/sluice"),
                                        "run",
                                        "--device",
                                        "gpu",
                                        "--megakernel",
                                        use,
                                        "--journal",
                                        journal,
                                        "--"};
    command.insert(command.end(), program.begin(), program.end());
    const Outcome outcome = run(command, environment);
    EXPECT_EQ(outcome.output, "0 wrong\n") << outcome.errors;
    const nlohmann::json figures = inspect_figures(journal);
    EXPECT_EQ(figures["launches"] > figures["passed_through"]["count"], use == std::string("wait"));
  }
}

TEST(RefusedSizes, OverflowsGiveAnErrorAndLeaveOutputsAlone) {
  answers_rightly("refused_sizes");
}

Outcome device_settings(const std::map<std::string, std::string>& set) {
  return run({build_path("bin/sluice"), "run", "--device", "cpu",
              build_path("tests/e2e/device_answers/device_settings")},
             set);
}

TEST(DeviceSettings, SetWhatTheDeviceSaysAndHowMuchItAllocates) {
  const Outcome set =
      device_settings({{"SLUICE_CPU_COMPUTE", "8.9"}, {"SLUICE_CPU_MEMORY", "64MiB"}});
  EXPECT_EQ(set.output, "8.9 67108864 67108864\ncudaSuccess\ncudaErrorMemoryAllocation\n1\n");
  EXPECT_EQ(set.errors, "");
}

TEST(DeviceSettings, ThatAreNoneAreSaidAndLeftOut) {
  const Outcome set = device_settings({{"SLUICE_CPU_COMPUTE", "sm_89"}, {"SLUICE_CPU_MEMORY", ""}});
  EXPECT_EQ(set.output.find("8.0 "), 0u) << set.output;
  EXPECT_EQ(lines(set.errors).size(), 1u) << set.errors;
  EXPECT_NE(set.errors.find("SLUICE_CPU_COMPUTE: 'sm_89'"), std::string::npos) << set.errors;
}

Outcome stencil_with(const std::string& setting, const std::string& value) {
  return run({build_path("bin/sluice"), "run", "--device", "cpu", "--off", "--",
              build_path("samples/stencil"), "--size", "128", "--iterations", "4"},
             {{"SLUICE_CODE_CACHE", "off"}, {setting, value}});
}

Outcome stencil_at_level(const std::string& level) {
  return stencil_with("SLUICE_CPU", level);
}

std::string checksum(const Outcome& outcome) {
  const size_t at = outcome.output.find("checksum=");
  return at == std::string::npos ? outcome.errors : outcome.output.substr(at, 25);
}

TEST(DeviceSettings, LevelsOfTheProcessorGiveTheSameAnswers) {
  const std::string wanted = checksum(stencil_at_level(""));
  EXPECT_EQ(wanted.find("checksum="), 0u) << wanted;
  for (const char* level : {"x86-64", "x86-64-v2", "x86-64-v3"})
    EXPECT_EQ(checksum(stencil_at_level(level)), wanted) << level;
}

TEST(DeviceSettings, ALevelThatIsNoneIsSaidAndLeftOut) {
  const Outcome set = stencil_at_level("pentium");
  EXPECT_EQ(checksum(set), checksum(stencil_at_level("")));
  EXPECT_NE(set.errors.find("SLUICE_CPU: 'pentium'"), std::string::npos) << set.errors;
}

TEST(DeviceSettings, FirstCodeGivesTheSameAnswers) {
  const std::string wanted = checksum(stencil_with("SLUICE_FIRST_CODE", ""));
  EXPECT_EQ(wanted.find("checksum="), 0u) << wanted;
  for (const char* first : {"good", "quick"})
    EXPECT_EQ(checksum(stencil_with("SLUICE_FIRST_CODE", first)), wanted) << first;
  const Outcome set = stencil_with("SLUICE_FIRST_CODE", "fast");
  EXPECT_EQ(checksum(set), wanted);
  EXPECT_NE(set.errors.find("SLUICE_FIRST_CODE: 'fast'"), std::string::npos) << set.errors;
}

// Shape is the stride of the inner loop, how many strides there are to do, and the rounds.
struct Shape {
  int stride, rows, rounds;
};

class NestedStrides : public ::testing::TestWithParam<std::tuple<int, Shape>> {};

TEST_P(NestedStrides, ReachEveryElement) {
  const auto& [way, shape] = GetParam();
  std::vector<std::string> command = {build_path("tests/e2e/device_answers/nested_strides")};
  for (const int argument : {way, shape.stride, shape.rows, 128, shape.rounds})
    command.push_back(std::to_string(argument));
  const int count = shape.stride * shape.rows;
  const std::string told = "cudaSuccess, 0 of " + std::to_string(count) + " wrong\n";
  const Outcome plain = sluice_run({"--off"}, command);
  EXPECT_EQ(plain.output, told) << plain.errors;
  const Outcome tasks = sluice_run({}, command);
  EXPECT_EQ(tasks.output, told) << tasks.errors;
}

// One stride for each thread: all columns at once. Several: threads go round the outer loop too.
INSTANTIATE_TEST_SUITE_P(OneRound, NestedStrides,
                         ::testing::Combine(::testing::Values(0, 1, 2, 3, 5),
                                            ::testing::Values(Shape{128, 3, 1})));
INSTANTIATE_TEST_SUITE_P(SeveralRounds, NestedStrides,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5),
                                            ::testing::Values(Shape{768, 3, 6})));
// Of the threads only some have an outer round; each of them does its column again.
INSTANTIATE_TEST_SUITE_P(SomeThreads, NestedStrides,
                         ::testing::Combine(::testing::Values(4),
                                            ::testing::Values(Shape{128, 3, 128},
                                                              Shape{128, 3, 300})));

}  // namespace
}  // namespace sluice::e2e
