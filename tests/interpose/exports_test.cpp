// The shim stands in for the driver by name: SONAME, and a symbol for every driver function.
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

TEST(Shim, HasTheDriversSoname) {
  const Outcome outcome = run({"readelf", "-d", build_path("lib/libsluice.so")});
  EXPECT_NE(outcome.output.find("Library soname: [libcuda.so.1]"), std::string::npos);
}

TEST(Shim, ExportsEveryDriverFunctionAndDlopenAndNothingElse) {
  std::set<std::string> expected = {"dlopen", "sluice_remember_code"};
  std::ifstream names(DRIVER_FUNCTIONS_FILE);
  for (std::string line; std::getline(names, line);) {
    expected.insert(line.substr(line.find('"') + 1, line.rfind('"') - line.find('"') - 1));
  }
  ASSERT_GT(expected.size(), 400);

  std::set<std::string> exported;
  const Outcome outcome = run({"nm", "-D", "--defined-only", build_path("lib/libsluice.so")});
  for (const std::string& line : lines(outcome.output)) {
    exported.insert(line.substr(line.rfind(' ') + 1));
  }
  EXPECT_EQ(exported, expected);
}

}  // namespace
}  // namespace sluice::e2e
