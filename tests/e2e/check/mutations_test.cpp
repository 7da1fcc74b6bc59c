// What a change of random programs makes wrong is told, and nothing else is.
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/scratch_folder.hpp"
#include "e2e/check/check.hpp"

namespace sluice::e2e {
namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

// SLUICE_MUTATIONS=2000 runs as many programs as the recorded run in docs/check.md.
TEST(Mutations, AreFoundWhereTheyDoHarm) {
  const ScratchFolder scratch;
  const std::string report = scratch.file("report");
  const Outcome outcome = check(
      {build_path("tests/e2e/check/mutations"), variable("SLUICE_MUTATIONS_SEED", "1"),
       variable("SLUICE_MUTATIONS", "60")},
      {"--only", "races,memory,init,threads,accesses", "--format", "json", "--output", report});
  ASSERT_EQ(outcome.status, 87) << outcome.errors;
  std::ifstream file(report);
  std::set<std::string> told;
  const nlohmann::json all = nlohmann::json::parse(file);
  for (const nlohmann::json& fault : all.at("faults")) {
    told.insert(fault.at("kernel").get<std::string>());
    // Of two launches that race, who did what.
    for (const std::string detail : fault.at("details"))
      told.insert(detail.substr(0, detail.find(' ')));
  }
  std::istringstream lines(outcome.output);
  size_t faults = 0, found = 0, originals = 0;
  for (std::string kernel, verdict; lines >> kernel >> verdict;) {
    if (verdict == "right") {
      EXPECT_FALSE(told.contains(kernel)) << kernel;
      originals += kernel.ends_with("r") ? 1 : 0;
      continue;
    }
    ++faults;
    found += told.contains(kernel) ? 1 : 0;
    EXPECT_TRUE(told.contains(kernel)) << kernel;
  }
  EXPECT_GT(faults, 0U);
  std::printf("%zu originals, %zu faults made, %zu of them found\n", originals, faults, found);
}

}  // namespace
}  // namespace sluice::e2e
