// Every sample gives the answer of its own CPU reference, the same bits plain and under Sluice, and
// a journal that replays identically.
#include <cstdlib>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

class Sample : public testing::TestWithParam<const char*> {};

TEST_P(Sample, AnswersTheSamePlainAndUnderSluice) {
  const std::vector<std::string> command = sample_command(GetParam());
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const std::string plain = sample_checksum(sluice_run({"--off"}, command));
  EXPECT_EQ(sample_checksum(sluice_run({"--journal", journal}, command)), plain);
  // Where blocks are traced the driver does copies, and graphs.
  const std::string name = GetParam();
  const bool is_graph_plain = (name.starts_with("decode") || name.starts_with("loops --body 5")) &&
                              std::getenv("SLUICE_CHECK_FOOTPRINTS") != nullptr;
  EXPECT_EQ(inspect_figures(journal)["passed_through"]["count"], is_graph_plain ? 5 : 0);
  const Outcome replayed = run({build_path("bin/sluice"), "replay", journal});
  EXPECT_EQ(replayed.output, "identical\n") << replayed.errors;
}

INSTANTIATE_TEST_SUITE_P(
    Samples, Sample,
    testing::Values("attention --groups 2 --context 50 --steps 2", "cg --size 60 --steps 30",
                    "decode --tokens 5", "elimination --size 12 --block 4,4",
                    "gemm_chain --rows 50 --size 75 --layers 3",
                    "loops --body 0 --size 5000 --steps 9", "loops --body 1 --size 5000 --steps 9",
                    "loops --body 2 --size 5000 --steps 9", "loops --body 3 --size 5000 --steps 9",
                    "loops --body 4 --size 5000 --steps 9", "loops --body 5 --size 5000 --steps 10",
                    "multistream --size 1500 --rows 20 --steps 9",
                    "nbody --bodies 300 --steps 3 --block 64", "residual --layers 3",
                    "heat3d --size 32 --iterations 9 --block 8,4,4",
                    "wave --size 100 --iterations 17 --block 16,16"));

// passed_through() runs an elimination plain and under Sluice; it returns how many of its launches
// passed through.
int passed_through(const std::string& elimination) {
  const std::vector<std::string> command = sample_command(elimination);
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const std::string plain = sample_checksum(sluice_run({"--off"}, command));
  EXPECT_EQ(sample_checksum(sluice_run({"--journal", journal}, command)), plain);
  const Outcome replayed = run({build_path("bin/sluice"), "replay", journal});
  EXPECT_EQ(replayed.output, "identical\n") << replayed.errors;
  return inspect_figures(journal)["passed_through"]["count"];
}

// Every launch of an elimination is new; where blocks are few enough to list, it costs little.
TEST(EndlessElimination, IsFollowedToItsEndWhereItsBlocksAreFew) {
  EXPECT_EQ(passed_through("elimination --size 96 --block 16,16"), 0);
}

// Launches whose dependences are all new and dear stop being followed, by count: the answers stay,
// and the journal says why.
TEST(EndlessElimination, PassesThroughOnceFollowingCostsMoreThanItGains) {
  EXPECT_GT(passed_through("elimination --size 192 --block 2,2"), 0);
}

// analyses_of() counts the different relations that a journal's footprints hold: launches that
// share an analysis share their text, and differ in the values of its symbols.
size_t analyses_of(const std::string& journal) {
  std::set<std::string> relations;
  std::ifstream lines(journal);
  for (std::string line; std::getline(lines, line);) {
    const auto record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_object() || record.value("record", "") != "footprint") continue;
    relations.insert(record["kernel"].dump() + record["block"].dump() + record["arguments"].dump());
  }
  return relations.size();
}

TEST(EndlessElimination, TakesFourAnalysesForAllItsPivots) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  sample_checksum(
      sluice_run({"--journal", journal}, sample_command("elimination --size 96 --block 16,16")));
  EXPECT_EQ(inspect_figures(journal)["launches"], 190);
  const size_t analyses = analyses_of(journal);
  EXPECT_GE(analyses, 2u);
  EXPECT_LE(analyses, 4u);
}

struct Known {
  const char* command;
  // "MASTER SLAVE EDGES", launches by number, in the order of the journal.
  std::vector<std::string> dros;
};

void PrintTo(const Known& shown, std::ostream* stream) {
  *stream << shown.command;
}

class KnownSample : public testing::TestWithParam<Known> {};

TEST_P(KnownSample, HasTheKnownDros) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  sample_checksum(sluice_run({"--journal", journal}, sample_command(GetParam().command)));
  std::vector<std::string> found;
  for (const nlohmann::json& dro : inspect_list("--dros", journal)) {
    found.push_back(dro["master"]["launch"].dump() + " " + dro["slave"]["launch"].dump() + " " +
                    dro["edges"].dump());
  }
  EXPECT_EQ(found, GetParam().dros);
}

// Cases 1 and 2: linear -> attention -> normalise. Case 4: two products. Case 8: speeds are
// launches 1 and 3, positions 2 and 4; 1 -> 2 is 16 for the positions that all blocks read.
// Cases 15 and 16: launches 1 to 3 are the residual, 4 and 5 the two tensors.
INSTANTIATE_TEST_SUITE_P(
    Cases, KnownSample,
    testing::Values(Known{"attention", {"1 2 32", "2 3 32"}},
                    Known{"gemm_chain --rows 64 --size 128 --layers 2", {"1 2 256"}},
                    Known{"nbody --steps 3", {"1 2 16", "2 3 16", "1 3 4", "2 4 4"}},
                    Known{"residual", {"1 2 8", "2 3 8", "1 3 64", "3 4 8", "4 5 64"}}));

TEST(SampleOptions, AreRefusedWithTheUsageWhereTheyAreWrong) {
  for (const char* line : {"wave --size 0", "wave --size", "wave --block 16", "wave --nothing 1",
                           "heat3d --block 32,32,2"}) {
    const Outcome outcome = run(sample_command(line));
    EXPECT_EQ(outcome.status, 2) << line;
    EXPECT_EQ(outcome.output, "") << line;
    EXPECT_EQ(lines(outcome.errors).size(), 1u) << outcome.errors;
  }
}

}  // namespace
}  // namespace sluice::e2e
