// Launches on memory of any kind are tasks, and who watches host memory while the device works sees
// what CUDA shows.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

std::vector<std::string> program(const std::string& name, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), build_path("tests/e2e/memory/" + name));
  return arguments;
}

class Kinds : public testing::TestWithParam<const char*> {};

TEST_P(Kinds, LaunchesMemsetsAndCopiesAreTasksWithTheSameAnswers) {
  const auto command = program("memory_kinds", {GetParam()});
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const Outcome plain = sluice_run({"--off"}, command);
  const Outcome tasks = sluice_run({"--journal", journal}, command);
  EXPECT_EQ(plain.status, 0) << plain.output << plain.errors;
  EXPECT_EQ(tasks.output, plain.output) << tasks.errors;
  const auto figures = inspect_figures(journal);
  // Where blocks are traced the driver does memsets and copies.
  EXPECT_EQ(figures["launches"], std::getenv("SLUICE_CHECK_FOOTPRINTS") == nullptr ? 52 : 50);
  EXPECT_EQ(figures["passed_through"]["count"], 0);
}

INSTANTIATE_TEST_SUITE_P(Of, Kinds,
                         testing::Values("plain", "managed", "pinned", "mapped", "async", "pool"));

// A mapping of virtual memory may be one of several of the same memory.
TEST(VirtualMemory, LaunchesPassThroughWithAReason) {
  const auto command = program("memory_kinds", {"virtual"});
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const Outcome plain = sluice_run({"--off"}, command);
  const Outcome under = sluice_run({"--journal", journal}, command);
  EXPECT_EQ(under.output, plain.output) << under.errors;
  EXPECT_EQ(under.output.find("no error checksum="), 0U) << under.output;
  const auto passed = inspect_figures(journal)["passed_through"];
  EXPECT_EQ(passed["count"], 50);
  EXPECT_NE(passed.dump().find("points to memory that Sluice does not know"), std::string::npos)
      << passed.dump();
}

class Watched : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Watched, AFlagIsSeenAndWhatWasLaunchedBeforeIt) {
  const auto [how, memory] = GetParam();
  const auto command = program("memory_watched", {how, memory});
  const Outcome plain = sluice_run({"--off"}, command);
  EXPECT_EQ(plain.output, "0 wrong\n") << plain.errors;
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const Outcome tasks = sluice_run({"--journal", journal}, command);
  EXPECT_EQ(tasks.output, "0 wrong\n") << tasks.errors;
  // Of the 20 rounds only the kernel that sets the flag; a memset of it is no launch.
  EXPECT_EQ(inspect_figures(journal)["passed_through"]["count"],
            how == std::string("memset") ? 0 : 20);
}

INSTANTIATE_TEST_SUITE_P(By, Watched,
                         testing::Combine(testing::Values("plain", "volatile", "atomic", "memset"),
                                          testing::Values("managed", "mapped")));
INSTANTIATE_TEST_SUITE_P(ByVariable, Watched,
                         testing::Combine(testing::Values("variable"), testing::Values("managed")));

}  // namespace
}  // namespace sluice::e2e
