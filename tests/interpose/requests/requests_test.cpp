// What programs ask of a driver reaches it as they asked for it, and its answers reach them.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

// Of requests.def, each with the driver's success and with an error.
constexpr const char* all_requests = "292\n";

class Requests : public ::testing::Test {
 protected:
  Outcome run_program(const std::string& what) {
    std::filesystem::create_directories(scratch_.file("root/dev"));
    std::ofstream(scratch_.file("root/dev/nvidia0"));
    return run({build_path("tests/requests_program"), what},
               {{"LD_LIBRARY_PATH", build_path("tests/request_driver")},
                {"LD_PRELOAD", build_path("lib/libsluice.so")},
                {"SLUICE_DEVICE", "gpu"},
                {"SLUICE_DEVICE_FILES", scratch_.file("root")},
                {"SLUICE_JOURNAL", journal_}});
  }

  const ScratchFolder scratch_;
  const std::string journal_ = scratch_.file("journal");
};

TEST_F(Requests, ByNameAreForwarded) {
  const Outcome outcome = run_program("by-name");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, all_requests);
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(Requests, ByAddressAreForwarded) {
  const Outcome outcome = run_program("by-address");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, all_requests);
  EXPECT_EQ(outcome.errors, "");
}

// No header declares it, so it has no export; by address it is called through the shim all the
// same, and that is said once.
TEST_F(Requests, AFunctionThatNobodyHasHeardOfIsForwardedAndTold) {
  const Outcome outcome = run_program("unheard-of");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "36\n");
  ASSERT_EQ(lines(outcome.errors).size(), 1U) << outcome.errors;
  EXPECT_NE(outcome.errors.find("cuUnheardOf: not known to this version of Sluice"),
            std::string::npos)
      << outcome.errors;
}

// The null streams of two devices are two.
TEST_F(Requests, LaunchesOfTwoDevicesAreToldApart) {
  ASSERT_EQ(run_program("devices").status, 0);
  const Outcome launches = run({build_path("bin/sluice"), "inspect", "--launches", journal_});
  std::vector<std::string> streams;
  for (const std::string& line : lines(launches.output)) {
    const size_t stream = line.find("stream ");
    streams.push_back(line.substr(stream, line.find(" passed") - stream));
  }
  EXPECT_EQ(streams, (std::vector<std::string>{"stream 0", "stream 1 of device 1",
                                               "stream 1 of device 1", "stream 0"}))
      << launches.output << launches.errors;
}

}  // namespace
}  // namespace sluice::e2e
