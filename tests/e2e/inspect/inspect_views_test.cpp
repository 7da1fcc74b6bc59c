// `sluice inspect --pairs`, `--dot` and `--dot-dro` show the dependences that the journal holds.
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

class InspectViews : public testing::Test {
 protected:
  void record(const std::string& command) {
    sample_checksum(sluice_run({"--journal", journal_}, sample_command(command)));
  }

  Outcome inspect(const std::vector<std::string>& options) const {
    std::vector<std::string> command = {build_path("bin/sluice"), "inspect", journal_};
    command.insert(command.end(), options.begin(), options.end());
    return run(command);
  }

  ScratchFolder scratch_;
  std::string journal_ = scratch_.file("journal");
};

// edges_in() is every line "A -> B" of a graph, without its attributes.
std::multiset<std::string> edges_in(const std::string& dot) {
  std::multiset<std::string> edges;
  for (const std::string& line : lines(dot)) {
    if (line.find(" -> ") == std::string::npos) continue;
    edges.insert(line.substr(2, line.find_first_of("[;") - 2));
  }
  return edges;
}

// block_edge() is the line of one block edge in a block graph.
std::string block_edge(int master, int slave) {
  std::string edge = "m";
  edge += std::to_string(master);
  edge += " -> s";
  edge += std::to_string(slave);
  return edge;
}

TEST_F(InspectViews, PairsAddUpDrosOfTheSameKernels) {
  record("nbody --steps 3");
  const std::vector<nlohmann::json> pairs = inspect_list("--pairs", journal_);
  ASSERT_EQ(pairs.size(), 4u);
  EXPECT_EQ(pairs[0]["hazards"], "raw+war");
  EXPECT_EQ(pairs[0]["dependences"], 3);
  EXPECT_EQ(pairs[0]["edges"], 48);
  uint64_t dependences = 0, edges = 0;
  for (const nlohmann::json& pair : pairs) {
    EXPECT_EQ(pair["dros"], 1);
    dependences += pair["dependences"].get<uint64_t>();
    edges += pair["edges"].get<uint64_t>();
  }
  const nlohmann::json figures = inspect_figures(journal_);
  EXPECT_EQ(dependences, figures["resolved"]);
  EXPECT_EQ(edges, figures["edges"]);
  EXPECT_EQ(lines(inspect({"--pairs"}).output).size(), 4u);
}

TEST_F(InspectViews, LaunchGraphOfTheResidualHasItsFiveDependences) {
  record("residual");
  const Outcome outcome = inspect({"--dot"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(edges_in(outcome.output),
            (std::multiset<std::string>{"l1 -> l2 ", "l1 -> l3 ", "l2 -> l3 ", "l3 -> l4 ",
                                        "l4 -> l5 "}));
  EXPECT_NE(outcome.output.find("dro 2 raw 64"), std::string::npos) << outcome.output;
}

TEST_F(InspectViews, BlockGraphOfAttentionIsFourBlocksToOne) {
  record("attention");
  const Outcome outcome = inspect({"--dot-dro", "0"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  std::multiset<std::string> expected;
  for (int master = 0; master < 32; ++master) {
    expected.insert(block_edge(master, master / 4));
  }
  EXPECT_EQ(edges_in(outcome.output), expected);
}

TEST_F(InspectViews, BlockGraphOfAStencilIsEachBlockAndItsNeighbours) {
  record("stencil --size 64 --iterations 2 --block 16,16");
  std::multiset<std::string> expected;
  for (int slave = 0; slave < 16; ++slave) {
    for (int master = 0; master < 16; ++master) {
      const int x = std::abs(slave % 4 - master % 4), y = std::abs(slave / 4 - master / 4);
      if (x + y <= 1) expected.insert(block_edge(master, slave));
    }
  }
  EXPECT_EQ(edges_in(inspect({"--dot-dro", "0"}).output), expected);
}

TEST_F(InspectViews, WrongQuestionsAreRefusedInOneLine) {
  record("residual");
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--dot-dro", "5"}, {"--dot", "--pairs"}, {"--dot-dro", "x"}}) {
    const Outcome outcome = inspect(options);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(lines(outcome.errors).size(), 1u) << outcome.errors;
  }
}

TEST_F(InspectViews, ABlockGraphThatIsTooLargeIsRefusedWithItsSize) {
  record("stencil --size 1024 --iterations 2 --block 16,16");
  const Outcome outcome = inspect({"--dot-dro", "0"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.errors.find("20224 edges"), std::string::npos) << outcome.errors;
}

}  // namespace
}  // namespace sluice::e2e
