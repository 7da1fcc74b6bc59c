// Kernels that write beyond their buffers: a little goes unnoticed, far is told, and neither harms
// the program's own memory.
#include <cstdlib>
#include <tuple>

#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

class Overrun : public ::testing::TestWithParam<std::tuple<const char*, bool>> {
  // What goes beyond a footprint is what the check of footprints tells of.
  void SetUp() override { unsetenv("SLUICE_CHECK_FOOTPRINTS"); }

 protected:
  static std::string kind() { return std::get<0>(GetParam()); }
  static Outcome run_with(const std::string& count) {
    const std::vector<std::string> options =
        std::get<1>(GetParam()) ? std::vector<std::string>{} : std::vector<std::string>{"--off"};
    return sluice_run(options, {build_path("tests/e2e/overrun"), kind(), count});
  }
};

TEST_P(Overrun, ByALittleGoesUnnoticed) {
  const Outcome outcome = run_with("1024");
  EXPECT_EQ(outcome.output, "cudaSuccess\n0 wrong\n") << outcome.errors;
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
}

// Beyond the chunk that the buffer lies in, and by most of what an int can count.
TEST_P(Overrun, FarIsTold) {
  for (const char* count : {"1000000", "2000000000"}) {
    const Outcome outcome = run_with(count);
    EXPECT_EQ(outcome.output, "cudaErrorIllegalAddress\n") << outcome.errors;
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_NE(outcome.errors.find("kernel _Z13write_numbersPfi: an access to address"),
              std::string::npos)
        << outcome.errors;
  }
}

std::string name_of(const ::testing::TestParamInfo<Overrun::ParamType>& test) {
  return std::string(std::get<0>(test.param)) + (std::get<1>(test.param) ? "UnderSluice" : "Plain");
}

INSTANTIATE_TEST_SUITE_P(Faults, Overrun,
                         ::testing::Combine(::testing::Values("device", "managed", "pinned", "pool",
                                                              "variable", "freed"),
                                            ::testing::Bool()),
                         name_of);

}  // namespace
}  // namespace sluice::e2e
