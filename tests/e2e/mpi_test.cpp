// Two processes under OpenMPI, each under Sluice, that exchange halos through the host: right
// answers, a journal of each that replays, and nothing in the way of the other.
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

// Right on machines with fewer processors than ranks, and in a container, where the user is root.
std::vector<std::string> mpirun(const std::string& ranks) {
  return {"timeout", "120", "mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to",
          "none",    "-n",  ranks};
}

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

const std::vector<std::string> halo = {build_path("samples/halo"), "--size", "200", "--iterations",
                                       "40"};

std::string checksum(const Outcome& outcome) {
  const size_t place = outcome.output.find("checksum=");
  EXPECT_EQ(outcome.status, 0) << outcome.output << outcome.errors;
  EXPECT_EQ(outcome.output.rfind("PASS halo", 0), 0U) << outcome.output << outcome.errors;
  return place == std::string::npos ? "" : outcome.output.substr(place, 9 + 16);
}

TEST(Mpi, TwoRanksEachUnderSluice) {
  const std::string plain = checksum(sluice_run({"--off"}, halo));
  const ScratchFolder scratch;
  const std::vector<std::string> under = {
      build_path("bin/sluice"), "run", "--device", "cpu", "--journal", scratch.file("%p"), "--"};
  EXPECT_EQ(checksum(run(joined(mpirun("2"), joined(under, halo)))), plain);

  // 40 steps of three launches and of a copy of the neighbour's row, which the driver does where
  // blocks are traced; rows to the host are so small that it may watch them, and the driver's too.
  const int launches = std::getenv("SLUICE_CHECK_FOOTPRINTS") == nullptr ? 160 : 120;
  size_t journals = 0;
  for (const auto& journal : std::filesystem::directory_iterator(scratch.file(""))) {
    ++journals;
    const std::string path = journal.path();
    EXPECT_EQ(inspect_figures(path)["launches"], launches) << path;
    EXPECT_EQ(inspect_figures(path)["passed_through"]["count"], 0) << path;
    EXPECT_EQ(run({build_path("bin/sluice"), "replay", path}).output, "identical\n") << path;
  }
  EXPECT_EQ(journals, 2U);
}

TEST(Mpi, ThreeRanksUnderALauncherThatIsUnderSluiceItself) {
  const std::string plain = checksum(sluice_run({"--off"}, halo));
  EXPECT_EQ(checksum(sluice_run({}, joined(mpirun("3"), halo))), plain);
}

// The rows at a band's edges and those within it are written side by side, by two streams.
TEST(Mpi, ACheckOfAllRanksFindsNothing) {
  const Outcome outcome = run(joined({build_path("bin/sluice"), "check", "--device", "cpu", "--"},
                                     joined(mpirun("2"), halo)));
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.errors.find("no fault found"), std::string::npos) << outcome.errors;
}

TEST(Mpi, ACheckTellsOnceOfWhatEachRankDoesWrong) {
  const std::vector<std::string> program = {build_path("tests/e2e/check/errors"), "long-copy",
                                            "wrong"};
  const Outcome outcome = run(joined({build_path("bin/sluice"), "check", "--device", "cpu", "--"},
                                     joined(mpirun("3"), program)));
  EXPECT_EQ(outcome.status, 87) << outcome.errors;
  const size_t told = outcome.errors.find("ignored error: cudaMemcpy failed");
  EXPECT_NE(told, std::string::npos) << outcome.errors;
  EXPECT_EQ(outcome.errors.find("ignored error", told + 1), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.errors.find("found by 3 processes"), std::string::npos) << outcome.errors;
}

}  // namespace
}  // namespace sluice::e2e
