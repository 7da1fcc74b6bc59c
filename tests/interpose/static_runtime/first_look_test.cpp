// Which files the audit library maps at all.
#include "interpose/static_runtime/first_look.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "e2e/process.hpp"

namespace sluice::interpose {
namespace {

bool is_library_worth_it(const std::string& name) {
  return is_worth_a_look(e2e::build_path("tests/static_runtime/lib" + name + ".so").c_str());
}

TEST(FirstLook, TakesWhatHasSymbolsOrExportsARuntime) {
  EXPECT_TRUE(is_library_worth_it("few"));
  EXPECT_TRUE(is_library_worth_it("usual"));
  EXPECT_TRUE(is_library_worth_it("stripped"));
  EXPECT_TRUE(is_worth_a_look("/proc/self/exe"));
}

TEST(FirstLook, LeavesStrippedFilesWithoutARuntimeAndWhatIsNoLibrary) {
  const ScratchFolder folder;
  const std::string stripped = folder.file("stripped.so");
  const e2e::Outcome outcome =
      e2e::run({"strip", "-o", stripped, e2e::build_path("lib/libsluice.so")});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_FALSE(is_worth_a_look(stripped.c_str()));
  std::ofstream(folder.file("text")) << "no library";
  EXPECT_FALSE(is_worth_a_look(folder.file("text").c_str()));
  EXPECT_FALSE(is_worth_a_look(folder.file("none").c_str()));
  EXPECT_FALSE(is_worth_a_look("/"));
}

// Whatever a damaged file says of itself is not followed outside.
TEST(FirstLook, SurvivesEveryChangeOfAHeader) {
  const ScratchFolder folder;
  const std::string damaged = folder.file("damaged.so");
  std::ifstream file(e2e::build_path("tests/static_runtime/libstripped.so"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (size_t place = 0; place < 64; ++place) {
    std::string changed = bytes;
    changed[place] = static_cast<char>(0xff);
    std::ofstream(damaged, std::ios::binary) << changed;
    static_cast<void>(is_worth_a_look(damaged.c_str()));
  }
}

}  // namespace
}  // namespace sluice::interpose
