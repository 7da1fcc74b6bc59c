// What the journal of a stencil run must say: cases 5 and 6 of the project's known answers.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

using nlohmann::json;

json inspect(const std::string& journal) {
  const Outcome outcome = run({build_path("bin/sluice"), "inspect", "--json", journal});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  return json::parse(outcome.output);
}

std::vector<json> inspect_lines(const char* what, const std::string& journal) {
  const Outcome outcome = run({build_path("bin/sluice"), "inspect", what, "--json", journal});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  std::vector<json> rows;
  for (const std::string& line : lines(outcome.output))
    rows.push_back(json::parse(line));
  return rows;
}

void record(const std::string& journal, const char* sample, int size, int iterations,
            const std::string& block) {
  const Outcome outcome =
      sluice_run({"--journal", journal},
                 {build_path(std::string("samples/") + sample), "--size", std::to_string(size),
                  "--iterations", std::to_string(iterations), "--block", block});
  ASSERT_EQ(outcome.status, 0) << outcome.output << outcome.errors;
}

class StencilByLaunches : public testing::TestWithParam<int> {};

TEST_P(StencilByLaunches, HasTwoDrosHoweverManyIterationsRun) {
  const int launches = GetParam();
  const ScratchFolder scratch;
  for (const char* sample : {"stencil", "stencil_driver"}) {
    const std::string journal = scratch.file(std::string(sample) + ".journal");
    record(journal, sample, 64, launches, "16,16");
    const json counts = inspect(journal);
    const int dros = std::min(launches - 1, 2);
    EXPECT_EQ(counts["launches"], launches);
    EXPECT_EQ(counts["passed_through"]["count"], 0);
    EXPECT_EQ(counts["footprints"], 1);
    EXPECT_EQ(counts["footprint_hits"], launches - 1);
    EXPECT_EQ(counts["dros"], dros);
    EXPECT_EQ(counts["resolved"], launches - 1);
    EXPECT_EQ(counts["dro_hits"], launches - 1 - dros);
    EXPECT_EQ(counts["edge_tables"], std::min(dros, 1));
    EXPECT_EQ(counts["edges"], 64 * (launches - 1));
    EXPECT_EQ(inspect_lines("--launches", journal).size(), launches);
  }
}

INSTANTIATE_TEST_SUITE_P(Launches, StencilByLaunches, testing::Values(1, 2, 3, 4, 1000));

struct Grid {
  int blocks;  // a side
  int edges;
};

void PrintTo(const Grid& grid, std::ostream* stream) {
  *stream << grid.blocks;
}

class StencilByGrid : public testing::TestWithParam<Grid> {};

TEST_P(StencilByGrid, HasTheEdgesOfAFivePointNeighbourhood) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  record(journal, "stencil", 8 * GetParam().blocks, 4, "8,8");
  const std::vector<json> dros = inspect_lines("--dros", journal);
  ASSERT_EQ(dros.size(), 2);
  for (const json& dro : dros) {
    EXPECT_EQ(dro["edges"], GetParam().edges);
    EXPECT_EQ(dro["edge_table"], dros[0]["edge_table"]);
    EXPECT_EQ(dro["hazards"], json({"raw", "war"}));
    EXPECT_EQ(dro["master"]["kernel"], dro["slave"]["kernel"]);
  }
  EXPECT_EQ(dros[0]["used"], 2);
  EXPECT_EQ(dros[1]["used"], 1);
}

INSTANTIATE_TEST_SUITE_P(Grids, StencilByGrid,
                         testing::Values(Grid{2, 12}, Grid{4, 64}, Grid{8, 288}, Grid{64, 20224}));

TEST(StencilJournal, HoldsOneLineForEachLaunch) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  record(journal, "stencil", 256, 1000, "16,16");
  std::ifstream file(journal);
  int launches = 0;
  for (std::string line; std::getline(file, line);) {
    if (json::parse(line).value("record", "") == "launch") ++launches;
  }
  EXPECT_EQ(launches, 1000);
}

TEST(StencilUnderTheBufferRule, RecordsReadAfterWriteOnly) {
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const Outcome outcome = sluice_run(
      {"--dependence", "buffer", "--journal", journal},
      {build_path("samples/stencil"), "--size", "64", "--iterations", "4", "--block", "16,16"});
  ASSERT_EQ(outcome.status, 0) << outcome.output << outcome.errors;
  const json counts = inspect(journal);
  EXPECT_EQ(counts["rule"], "buffer");
  EXPECT_EQ(counts["dros"], 2);
  for (const json& dro : inspect_lines("--dros", journal)) {
    EXPECT_EQ(dro["hazards"], json({"raw"}));
  }
}

}  // namespace
}  // namespace sluice::e2e
