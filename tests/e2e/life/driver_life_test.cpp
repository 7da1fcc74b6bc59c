// Modules, contexts, threads, faults and captures while launches are held back: the program finds
// what it finds on the CPU device alone.
#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

// timeout(1) turns a hang into status 124.
std::vector<std::string> life(const std::string& name) {
  return {"timeout", "60", build_path("tests/e2e/driver_life"),
          build_path("tests/e2e/driver_life.ptx"), name};
}

// Life is a way to live and what it prints.
struct Life {
  const char* name;
  const char* output;
};

// A test's name: where the strings lie differs from build to build.
void PrintTo(const Life& life, std::ostream* stream) {
  *stream << life.name;
}

class DriverLife : public testing::TestWithParam<Life> {};

TEST_P(DriverLife, IsWhatItIsWithoutSluice) {
  const auto [name, output] = GetParam();
  const Outcome plain = sluice_run({"--off"}, life(name));
  EXPECT_EQ(plain.status, 0) << plain.errors;
  EXPECT_EQ(plain.output, output) << plain.errors;
  const ScratchFolder scratch;
  const Outcome under = sluice_run({"--journal", scratch.file("journal")}, life(name));
  EXPECT_EQ(under.status, 0) << under.errors;
  EXPECT_EQ(under.output, output) << under.errors;
}

constexpr const char* told_of_fault =
    "synchronise: CUDA_ERROR_LAUNCH_FAILED\nlaunch: CUDA_ERROR_LAUNCH_FAILED\n"
    "again: CUDA_ERROR_LAUNCH_FAILED\ncopy: CUDA_ERROR_LAUNCH_FAILED\n";

INSTANTIATE_TEST_SUITE_P(
    , DriverLife,
    testing::Values(Life{"unload_modules", "right 8\n"}, Life{"destroy_contexts", "right 16\n"},
                    Life{"two_contexts", "right\nright\n"}, Life{"many_threads", "right 1640\n"},
                    Life{"polled_flag", "seen, right\nseen, right\nseen, right\n"},
                    Life{"fault", told_of_fault}, Life{"fault_held_back", told_of_fault},
                    Life{"capture", "right right\n"}, Life{"capture_beside", "right 20\n"}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::erase(name, '_');
      return name;
    });

TEST(DriverEnd, NothingOfTheDriverIsDestroyedAtTheEnd) {
  EXPECT_EQ(sluice_run({"--off"}, {build_path("tests/e2e/own_allocator")}).status, 0);
}

}  // namespace
}  // namespace sluice::e2e
