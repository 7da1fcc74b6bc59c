// The cases with known answers as CUDA programs: each gives its reference's answer plain and under
// Sluice, its journal holds exactly the known DROs and edges, and replays identically.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

// dros_of() is "MASTER SLAVE EDGES HAZARDS" for each DRO, launches by number, sorted as text.
std::vector<std::string> dros_of(const std::string& journal) {
  std::vector<std::string> found;
  for (const nlohmann::json& dro : inspect_list("--dros", journal)) {
    std::string text = dro["master"]["launch"].dump() + " " + dro["slave"]["launch"].dump() + " " +
                       dro["edges"].dump() + " ";
    for (const nlohmann::json& hazard : dro["hazards"]) {
      if (text.back() != ' ') text += '+';
      text += hazard.get<std::string>();
    }
    found.push_back(text);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

struct Known {
  const char* command;
  std::vector<std::string> dros;  // as dros_of() has them, in any order
  bool has_copies = false;  // among the launches: the driver does them where blocks are traced
};

void PrintTo(const Known& shown, std::ostream* stream) {
  *stream << shown.command;
}

class KnownCase : public testing::TestWithParam<Known> {};

TEST_P(KnownCase, HasItsAnswerAndItsDros) {
  const std::vector<std::string> command = program_command(GetParam().command);
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const std::string plain = sample_checksum(sluice_run({"--off"}, command));
  EXPECT_EQ(sample_checksum(sluice_run({"--journal", journal}, command)), plain);
  if (GetParam().has_copies && std::getenv("SLUICE_CHECK_FOOTPRINTS") != nullptr) return;
  EXPECT_EQ(dros_of(journal), sorted(GetParam().dros));
  const nlohmann::json figures = inspect_figures(journal);
  EXPECT_EQ(figures["passed_through"]["count"], 0);
  EXPECT_EQ(figures["warnings"].size(), 0u);
  const Outcome replayed = run({build_path("bin/sluice"), "replay", journal});
  EXPECT_EQ(replayed.output, "identical\n") << replayed.errors;
}

// Cases 1, 2, 4, 8, 15 and 16 are samples (samples_test.cpp); 5 and 6 stencil_dros_test.cpp.
INSTANTIATE_TEST_SUITE_P(
    Cases, KnownCase,
    testing::Values(
        // 3: P + C - gcd(P, C) edges
        Known{"producer_consumer --producers 6 --consumers 4", {"1 2 8 raw"}},
        Known{"producer_consumer --producers 7 --consumers 5", {"1 2 11 raw"}},
        Known{"producer_consumer --producers 16 --consumers 24", {"1 2 32 raw"}},
        // 3 with a copy as the consumer, then as the producer; memset, copy and rows by their
        // pieces
        Known{"transfers",
              {"1 2 8 raw", "2 3 8 raw", "3 4 8 war", "4 5 6 raw", "2 5 6 war", "3 6 6 waw",
               "5 6 6 raw"},
              true},
        // the same in a graph, launched twice
        Known{"graph_steps",
              {"1 2 8 raw", "2 3 8 raw", "2 4 8 war", "3 5 8 war", "3 6 4 raw+war+waw"},
              true},
        // and so often that it is repeated as a whole
        Known{"graph_steps --launches 12",
              {"1 2 8 raw", "2 3 8 raw", "2 4 8 war", "3 5 8 war", "3 6 4 raw+war+waw"},
              true},
        // 7: parties 0 and 1 exchange a row of blocks each way, 1 and 2 too, 0 and 2 nothing
        Known{"parties",
              {"1 4 98 raw+war", "2 4 8 raw+war", "1 5 8 raw+war", "2 5 98 raw+war",
               "3 5 8 raw+war", "2 6 8 raw+war", "3 6 60 raw+war"}},
        // 9
        Known{"in_place", {"1 2 4 raw+waw", "2 3 4 raw"}},
        // 10: `all` keeps the eight blocks that `part` leaves of it
        Known{"partial_overwrite --read 0,100", {"1 2 2 waw", "1 3 8 raw", "2 3 2 raw"}},
        Known{"partial_overwrite --read 45,55", {"1 2 2 waw", "2 3 2 raw"}},
        // 12: each waits for the one before; the reader for all twenty
        Known{"producers",
              {"1 2 1 waw",   "2 3 1 waw",   "3 4 1 waw",   "4 5 1 waw",   "5 6 1 waw",
               "6 7 1 waw",   "7 8 1 waw",   "8 9 1 waw",   "9 10 1 waw",  "10 11 1 waw",
               "11 12 1 waw", "12 13 1 waw", "13 14 1 waw", "14 15 1 waw", "15 16 1 waw",
               "16 17 1 waw", "17 18 1 waw", "18 19 1 waw", "19 20 1 waw", "1 21 1 raw",
               "2 21 1 raw",  "3 21 1 raw",  "4 21 1 raw",  "5 21 1 raw",  "6 21 1 raw",
               "7 21 1 raw",  "8 21 1 raw",  "9 21 1 raw",  "10 21 1 raw", "11 21 1 raw",
               "12 21 1 raw", "13 21 1 raw", "14 21 1 raw", "15 21 1 raw", "16 21 1 raw",
               "17 21 1 raw", "18 21 1 raw", "19 21 1 raw", "20 21 1 raw"}},
        // 13: six dependences of 64 blocks each
        Known{"expression",
              {"1 2 64 raw", "1 3 64 raw", "2 4 64 raw", "3 4 64 raw", "1 5 64 raw", "4 5 64 raw"}},
        // 14: the fork, the diamond, and A -> B, A -> C, D -> C
        Known{"fork_join --graph 0", {"1 2 8 raw", "1 3 8 raw"}},
        Known{"fork_join --graph 1", {"1 2 8 raw", "1 3 8 raw", "2 4 8 raw", "3 4 8 raw"}},
        Known{"fork_join --graph 2", {"1 3 8 raw", "1 4 8 raw", "2 4 8 raw"}},
        // 17: no edge between the readers, none from the first write to the second
        Known{"readers", {"1 2 4 raw", "1 3 4 raw", "2 4 4 war", "3 4 4 war"}},
        // 18: nothing leads from launch 1, whose memory was freed, to 2
        Known{"reallocated", {"2 3 64 war", "2 4 64 waw", "3 4 64 raw"}},
        // 19: 64 of 64
        Known{"finished_producer", {"1 2 64 raw"}}));

// Four runs of a graph of three launches are followed one by one. Its change is of a number that
// decides about no bytes.
TEST(RepeatedGraph, IsNotLookedUpFromItsFifthLaunchOn) {
  if (std::getenv("SLUICE_CHECK_FOOTPRINTS") != nullptr) return;  // the driver does graphs there
  const Outcome outcome =
      run({build_path("bin/sluice"), "run", "--device", "cpu", "--",
           build_path("tests/e2e/known_cases/graph_steps"), "--launches", "12"},
          {{"SLUICE_LOG", "debug"}, {"SLUICE_ANALYSIS", "wait"}, {"SLUICE_GOVERNOR", "off"}});
  EXPECT_NE(outcome.errors.find("60 of 72 launches were repeated with their graphs"),
            std::string::npos)
      << outcome.errors;
}

TEST(KnownCase18, GetsTheSameAddressAgain) {
  const Outcome outcome = sluice_run({}, program_command("reallocated"));
  EXPECT_NE(outcome.output.find("same_address=1"), std::string::npos) << outcome.output;
}

struct Overwrite {
  const char* command;
  uint64_t edges;  // 0: no DRO
  bool retires;
};

void PrintTo(const Overwrite& shown, std::ostream* stream) {
  *stream << shown.command;
}

class KnownCase11 : public testing::TestWithParam<Overwrite> {};

TEST_P(KnownCase11, IsCoveredOrNotAsSetAlgebraSays) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  sample_checksum(sluice_run({"--journal", journal}, program_command(GetParam().command)));
  const std::vector<nlohmann::json> dros = inspect_list("--dros", journal);
  ASSERT_EQ(dros.size(), GetParam().edges == 0 ? 0u : 1u);
  if (dros.empty()) return;
  EXPECT_EQ(dros[0]["hazards"], nlohmann::json({"waw"}));
  EXPECT_EQ(dros[0]["edges"], GetParam().edges);
  EXPECT_EQ(dros[0]["retires_master"], GetParam().retires);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, KnownCase11,
    testing::Values(Overwrite{"ranges --first 0,256 --second 0,512", 4, true},
                    Overwrite{"ranges --first 0,512 --second 0,256", 4, false},
                    Overwrite{"ranges --first 0,256 --second 0,256", 4, true},
                    Overwrite{"ranges --first 0,128 --second 128,256", 0, false},
                    Overwrite{"ranges --first 0,192 --second 64,256", 2, false},
                    Overwrite{"ranges --first 64,192 --second 0,256", 2, true}));

struct Wrong {
  const char* command;
  const char* warning;
  std::vector<std::string> dros;
};

void PrintTo(const Wrong& shown, std::ostream* stream) {
  *stream << shown.command;
}

class UnderTheBufferRule : public testing::TestWithParam<Wrong> {};

// The answers stay right, since launches run one after another under this rule; the DROs do not.
TEST_P(UnderTheBufferRule, DrosAreWrongAndAWarningNamesTheFirstLaunchThatLosesOne) {
  const std::vector<std::string> command = program_command(GetParam().command);
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const std::string plain = sample_checksum(sluice_run({"--off"}, command));
  const Outcome outcome = sluice_run({"--dependence", "buffer", "--journal", journal}, command);
  EXPECT_EQ(sample_checksum(outcome), plain);
  EXPECT_EQ(dros_of(journal), sorted(GetParam().dros));
  const nlohmann::json warnings = inspect_figures(journal)["warnings"];
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], std::string(GetParam().warning));
  const std::string line = std::string("sluice: ") + GetParam().warning + "\n";
  EXPECT_EQ(outcome.errors, line);
  EXPECT_EQ(sluice_run({"--dependence", "buffer"}, command).errors, line);  // without a journal
  const Outcome replayed = run({build_path("bin/sluice"), "replay", journal});
  EXPECT_EQ(replayed.output, "identical\n") << replayed.errors;
}

// Case 10: `read` misses what is left of `all`. Case 8: positions move before all have read them.
INSTANTIATE_TEST_SUITE_P(
    Cases, UnderTheBufferRule,
    testing::Values(
        Wrong{"partial_overwrite --read 0,100",
              "the buffer rule loses a dependence: launch 2 (part) has to wait for launch 1 (all) "
              "because of waw, and does not; the results may be wrong, use the exact rule",
              {"2 3 2 raw"}},
        Wrong{"nbody --steps 2",
              "the buffer rule loses a dependence: launch 2 (_Z16update_positionsPfPKfif) has to "
              "wait for launch 1 (_Z12update_speedPKfPfif) because of raw+war, and does not; the "
              "results may be wrong, use the exact rule",
              {"1 2 4 raw", "2 3 16 raw", "1 3 4 raw", "2 4 4 raw"}}));

}  // namespace
}  // namespace sluice::e2e
