// sluice check: calls of the host have lines where the program has debug information.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "e2e/check/check.hpp"

namespace sluice::e2e {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string source(const std::string& name) {
  return SLUICE_SOURCE_FOLDER "/tests/e2e/check/" + name;
}

std::string too_many_threads() {
  return place("errors.cu", "fill<<<1, is_right ? 500 : 2000>>>");
}

TEST(CallLines, AnIgnoredErrorHasTheLineOfItsCall) {
  EXPECT_THAT(check(seeded("errors_lines", "too-many-threads", false)).errors,
              HasSubstr(" in errors_lines at " + too_many_threads() + "\n"));
  EXPECT_THAT(check(seeded("errors_lines", "long-memset", false)).errors,
              HasSubstr(" at " + place("errors.cu", "cudaMemset(device_array<char>(99)") + "\n"));
  // What the runtime's header makes of it is not the program's own.
  EXPECT_THAT(check(seeded("errors_lines", "long-symbol", false)).errors,
              HasSubstr(" at " + place("errors.cu", "cudaMemcpyToSymbol(weights") + "\n"));
}

TEST(CallLines, AnAccessOfTheHostHasItsOwnLine) {
  for (const char* program : {"host_lines", "fixed_lines"}) {
    const std::string errors =
        check(seeded(program, "managed-result", false), {"--only", "host"}).errors;
    EXPECT_THAT(errors, HasSubstr("squares, called from managed_result in "));
    EXPECT_THAT(errors, HasSubstr(" at " + place("host.cu", "squares<<<blocks_for(count, 128)")));
    EXPECT_THAT(errors, HasSubstr(" at " + place("host.cu", "say(out[count - 1]);") +
                                  ", which nothing has told that it is done"));
  }
}

TEST(CallLines, ALibraryHasLinesToo) {
  EXPECT_THAT(check({build_path("tests/e2e/check/library_lines"),
                     build_path("tests/e2e/check/liberrors.so"), "too-many-threads", "wrong"})
                  .errors,
              HasSubstr(" in liberrors.so at " + too_many_threads() + "\n"));
}

TEST(CallLines, AreThereInEveryForm) {
  const auto report = [](const std::string& format) {
    return check(seeded("errors_lines", "too-many-threads", false), {"--format", format}).errors;
  };
  const std::string line = line_with("errors.cu", "fill<<<1, is_right ? 500");
  EXPECT_THAT(report("github"),
              HasSubstr("::error file=" + source("errors.cu") + ",line=" + line + ","));
  EXPECT_THAT(report("junit"), HasSubstr(" at " + too_many_threads()));
  const nlohmann::json fault = nlohmann::json::parse(report("json"))["faults"][0];
  EXPECT_EQ(fault["file"], source("errors.cu"));
  EXPECT_EQ(std::to_string(fault["line"].get<int>()), line);
  EXPECT_THAT(fault["call"].get<std::string>(), EndsWith(" in errors_lines"));
  const nlohmann::json sarif = nlohmann::json::parse(report("sarif"));
  const nlohmann::json place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], source("errors.cu"));
  EXPECT_EQ(std::to_string(place["region"]["startLine"].get<int>()), line);
}

TEST(CallLines, WithoutDebugInformationTheWordsAreAsBefore) {
  const std::string errors = check(seeded("errors", "too-many-threads", false)).errors;
  EXPECT_THAT(errors, HasSubstr("called from main in errors\n"));
  EXPECT_THAT(errors, Not(HasSubstr("errors.cu")));
}

// A line says where a fault is, not which: files move while a program is edited.
TEST(CallLines, AreNoPartOfABaseline) {
  const auto key = [](const std::string& program) {
    const Outcome outcome = check(seeded(program, "long-copy", false), {"--format", "json"});
    return nlohmann::json::parse(outcome.errors)["faults"][0]["key"].get<std::string>();
  };
  EXPECT_THAT(key("errors_lines"), Not(HasSubstr("errors.cu")));
}

}  // namespace
}  // namespace sluice::e2e
