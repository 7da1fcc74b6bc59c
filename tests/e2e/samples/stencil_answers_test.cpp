// Both samples give the same answer, bit for bit, plain, under Sluice and by their own reference.
#include <regex>

#include <gtest/gtest.h>
#include <unistd.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

struct Case {
  int size;
  int iterations;
  const char* block;
};

void PrintTo(const Case& shown, std::ostream* stream) {
  *stream << shown.size << "x" << shown.iterations << "x" << shown.block;
}

std::vector<std::string> command(const char* sample, const Case& shape) {
  return {build_path(std::string("samples/") + sample),
          "--size",
          std::to_string(shape.size),
          "--iterations",
          std::to_string(shape.iterations),
          "--block",
          shape.block};
}

// The checksum of a passing run; a test failure with all that was printed otherwise.
std::string checksum(const Outcome& outcome) {
  std::smatch match;
  const std::regex pattern("^PASS stencil.* checksum=([0-9a-f]{16})\\b.*\n$");
  if (outcome.status == 0 && std::regex_match(outcome.output, match, pattern)) return match[1];
  ADD_FAILURE() << "status " << outcome.status << "\n" << outcome.output << outcome.errors;
  return {};
}

class StencilAnswers : public testing::TestWithParam<Case> {};

TEST_P(StencilAnswers, AreTheSamePlainAndUnderSluice) {
  const std::string plain = checksum(sluice_run({"--off"}, command("stencil", GetParam())));
  EXPECT_EQ(checksum(sluice_run({}, command("stencil", GetParam()))), plain);
  EXPECT_EQ(checksum(sluice_run({"--off"}, command("stencil_driver", GetParam()))), plain);
  EXPECT_EQ(checksum(sluice_run({}, command("stencil_driver", GetParam()))), plain);
}

INSTANTIATE_TEST_SUITE_P(Shapes, StencilAnswers,
                         testing::Values(Case{16, 1, "2,2"}, Case{64, 2, "16,16"},
                                         Case{64, 3, "16,16"}, Case{100, 10, "16,16"},
                                         Case{257, 100, "32,8"}, Case{333, 33, "17,5"},
                                         Case{1000, 20, "32,8"}, Case{1024, 50, "64,4"},
                                         Case{130, 1000, "16,16"}, Case{512, 1000, "32,8"},
                                         Case{3, 4, "8,8"}, Case{61, 7, "1,61"}));

TEST(StencilAnswersUnchecked, TellTheSameChecksum) {
  std::vector<std::string> unchecked = command("stencil", {100, 10, "16,16"});
  unchecked.insert(unchecked.end(), {"--check", "0"});
  const std::string checked =
      checksum(sluice_run({"--off"}, command("stencil", {100, 10, "16,16"})));
  const Outcome outcome = sluice_run({}, unchecked);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output.rfind("DONE stencil size=100 iterations=10", 0), 0U) << outcome.output;
  EXPECT_NE(outcome.output.find("checksum=" + checked), std::string::npos) << outcome.output;
}

// A tool of its own runs the same through plain LD_PRELOAD and the environment.
TEST(StencilAnswersByPreload, AreTheSame) {
  const Case shape{100, 10, "16,16"};
  const Outcome preloaded = run(
      command("stencil", shape),
      {{"LD_PRELOAD", build_path("lib/libsluice.so") + ":" + build_path("lib/cpu/libcudart.so.13")},
       {"SLUICE_DEVICE", "cpu"}});
  EXPECT_EQ(checksum(preloaded), checksum(sluice_run({"--off"}, command("stencil", shape))));
}

TEST(StencilAnswersByPreload, AreTheSameWithSluiceOffAndNoJournalIsWritten) {
  const Case shape{100, 10, "16,16"};
  const ScratchFolder scratch;
  const Outcome forwarded = run(
      command("stencil", shape),
      {{"LD_PRELOAD", build_path("lib/libsluice.so") + ":" + build_path("lib/cpu/libcudart.so.13")},
       {"SLUICE_DEVICE", "cpu"},
       {"SLUICE_OFF", "1"},
       {"SLUICE_JOURNAL", scratch.file("journal")}});
  EXPECT_EQ(checksum(forwarded), checksum(sluice_run({"--off"}, command("stencil", shape))));
  EXPECT_NE(access(scratch.file("journal").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace sluice::e2e
