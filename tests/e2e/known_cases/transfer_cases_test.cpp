// The cases with known answers, with a copy or a memset, of bytes in a row or of rows, in the place
// of each kernel that it can stand for: not of one whose block reads more than it writes (4 and 6
// as consumers, 8's updateSpeed, 15's and 16's sums), nor of arithmetic. Blocks are pieces of 4
// KiB. The edges of each are counted by hand, and each pair's held against a reference.
#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"
#include "e2e/known_cases/script_reference.hpp"

namespace sluice::e2e {
namespace {

struct Case {
  const char* number;  // of the case, and what is special
  std::string words;
  std::optional<uint64_t> edges = {};  // of all dependences
  int graph = 0;                       // so many launches of a graph of it
};

void PrintTo(const Case& shown, std::ostream* stream) {
  *stream << shown.number << ": " << shown.graph << " " << shown.words;
}

// twenty() is case 12's producers, each of which begins in the middle of the one before.
std::string twenty(const std::string& before, const std::string& after) {
  std::string words;
  for (int i = 0; i < 20; ++i)
    words += before + std::to_string(4096 * i) + after + " , ";
  return words;
}

std::string times(int count, const std::string& words) {
  std::string all = words;
  for (int i = 1; i < count; ++i)
    all += " , " + words;
  return all;
}

// edges_in() is the DRO's edges as `--dot-dro` draws them.
std::set<BlockEdge> edges_in(const nlohmann::json& dro, const std::string& journal) {
  const Outcome outcome =
      run({build_path("bin/sluice"), "inspect", "--dot-dro", dro["id"].dump(), journal});
  std::set<BlockEdge> found;
  for (const std::string& line : lines(outcome.output)) {
    unsigned long long master = 0, slave = 0;
    if (std::sscanf(line.c_str(), " m%llu -> s%llu;", &master, &slave) == 2)
      found.insert({master, slave});
  }
  return found;
}

std::map<LaunchPair, PairEdges> journal_edges(const std::string& journal) {
  std::map<std::string, PairEdges> of_dro;
  for (const nlohmann::json& dro : inspect_list("--dros", journal)) {
    PairEdges& pair = of_dro[dro["id"].dump()];
    pair.edges = edges_in(dro, journal);
    for (const nlohmann::json& hazard : dro["hazards"])
      pair.hazards.insert(hazard.get<std::string>());
  }
  std::map<LaunchPair, PairEdges> found;
  for (const nlohmann::json& launch : inspect_list("--launches", journal)) {
    for (const nlohmann::json& dependence : launch["dependences"]) {
      found[{dependence[0].get<uint64_t>(), launch["number"].get<uint64_t>()}] =
          of_dro[dependence[1].dump()];
    }
  }
  return found;
}

std::string text_of(const std::map<LaunchPair, PairEdges>& pairs) {
  std::string text;
  for (const auto& [launches, pair] : pairs) {
    text += std::to_string(launches.first) + " -> " + std::to_string(launches.second) + ":";
    for (const std::string& hazard : pair.hazards)
      text += ' ' + hazard;
    for (const auto& [master, slave] : pair.edges)
      text += ' ' + std::to_string(master) + '-' + std::to_string(slave);
    text += '\n';
  }
  return text;
}

class TransferCase : public testing::TestWithParam<Case> {};

TEST_P(TransferCase, HasTheEdgesOfItsBytesAndNoOthers) {
  const Case& param = GetParam();
  std::vector<std::string> command =
      program_command("transfer_cases " + std::to_string(param.graph) + " " + param.words);
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  const std::string plain = sample_checksum(sluice_run({"--off"}, command));
  EXPECT_EQ(sample_checksum(sluice_run({"--journal", journal}, command)), plain);
  // The driver does copies and graphs where blocks are traced.
  if (std::getenv("SLUICE_CHECK_FOOTPRINTS") != nullptr) return;
  const nlohmann::json figures = inspect_figures(journal);
  EXPECT_EQ(figures["passed_through"]["count"], 0);
  const auto operations = script::parse({command.begin() + 2, command.end()});
  // Launch 1 is the program's own.
  const auto expected = script_edges(operations, std::max(param.graph, 1), 2);
  EXPECT_EQ(text_of(journal_edges(journal)), text_of(expected));
  uint64_t edges = 0;
  for (const auto& [launches, pair] : expected)
    edges += pair.edges.size();
  EXPECT_EQ(edges, param.edges.value_or(edges));
}

const std::string ping_pong = "copy b 0 a 0 65536 , copy a 0 b 0 65536";
const std::string bodies = "mix b b a 4 4096 16384 , copy a 0 b 0 16384";
const std::string bodies_reset = "mix b b a 4 4096 16384 , fill a 0 16384 1";
const std::string jacobi = "stencil b a 128 , copy a 0 b 0 65536";
const std::string expression =
    "two c a b 64 1024 , copy d 0 c 0 65536 , copy e 0 c 0 65536 , two f d e 64 1024 , "
    "two g f c 64 1024";
const std::string halo =
    "strip d a 0 3 , strip e b 3 3 , strip f c 6 2 , copy e 324 d 324 56 , copy d 388 e 388 56 , "
    "copy f 708 e 708 56 , copy e 772 f 772 56 , strip a d 0 3 , strip b e 3 3 , strip c f 6 2";

INSTANTIATE_TEST_SUITE_P(
    Cases, TransferCase,
    testing::Values(
        Case{"1", "fill a 0 131072 1 , map b 0 a 0 8 16384", 32},
        Case{"1", "copy a 0 c 0 131072 , map b 0 a 0 8 16384", 32},
        Case{"1", "put a 32 1024 , copy b 0 a 0 32768", 32},
        Case{"1", "put a 32 1024 , rect b 0 4096 a 0 4096 4092 8", 32},
        Case{"2", "fill a 0 32768 1 , map b 0 a 0 32 1024", 32},
        Case{"2", "rows a 0 4096 4092 8 1 , map b 0 a 0 32 1024", 32},
        Case{"2", "rect a 0 4096 c 0 8192 4092 8 , map b 0 a 0 32 1024", 32},
        Case{"2", "put a 8 16384 , copy b 0 a 0 131072", 32},
        // 3: P + C - gcd(P, C); 7 pieces of 4 KiB, of which the last is cut, against 5
        Case{"3", "fill a 0 24576 1 , map b 0 a 0 4 6144", 8},
        Case{"3", "put a 4 6144 , copy b 0 a 0 24576", 8},
        Case{"3", "copy a 0 c 0 28000 , map b 0 a 0 5 5600", 11},
        Case{"3", "put a 5 5600 , copy b 0 a 0 28000", 11},
        Case{"3", "put a 16 6144 , copy b 0 a 0 98304", 32},
        Case{"3", "fill a 0 98304 1 , map b 0 a 0 16 6144", 32},
        Case{"3, shifted", "fill a 0 24576 1 , copy b 0 a 2048 16384", 8},
        // 4: a row of a pitched matrix is 8 pieces; each tile waits for all of its row
        Case{"4", "rect a 0 36864 c 0 32768 32768 4 , row b a 8 4 4096 36864", 256},
        Case{"4", "rows a 0 36864 32768 4 1 , row b a 8 4 4096 36864", 256},
        Case{"4", "row b a 8 4 4096 36864 , copy c 0 b 0 131072", 32},
        Case{"5", "copy b 0 a 0 65536", 0}, Case{"5", ping_pong, 16},
        Case{"5", ping_pong + " , copy b 0 a 0 65536", 32}, Case{"5", times(3, ping_pong), 80},
        Case{"5, as a graph", ping_pong, 16 * 15, 8},
        // 6: pieces are half a row of blocks, whose blocks read two, and one above and below
        Case{"6", "fill a 0 65536 1 , stencil b a 128", 240},
        Case{"6", "copy a 0 c 0 65536 , stencil b a 128", 240},
        Case{"6", "stencil b a 128 , copy c 0 b 0 65536", 128},
        Case{"6", "stencil b a 128 , fill a 0 65536 1", 240},
        // a row is a piece: a block reads its 16 and one above and below, 14 times 8 and 2 at rims
        Case{"6", "rows a 0 512 508 128 1 , stencil b a 128", 8 * (6 * 18 + 2 * 17)},
        Case{"6, steps", times(4, jacobi)}, Case{"6, as a graph", jacobi, {}, 6}, Case{"7", halo},
        Case{"7, as a graph", halo, {}, 6},
        // 8: positions move when all have read them, 16 edges; to the speeds of a step 16 and 4
        Case{"8", times(3, bodies), 16 + 2 * 36}, Case{"8", times(3, bodies_reset), 16 + 2 * 36},
        Case{"8, as a graph", bodies, 16 + 7 * 36, 8},
        Case{"9", "fill a 0 16384 1 , map a 0 a 0 4 4096 , copy b 0 a 0 16384", 8},
        Case{"9", "copy a 0 c 0 16384 , map a 0 a 0 4 4096 , copy b 0 a 0 16384", 8},
        Case{"9", "fill a 0 16384 1 , copy a 8192 a 0 8192 , copy b 0 a 0 16384", 8},
        Case{"10", "fill a 0 40960 1 , fill a 16384 8192 2 , copy b 0 a 0 40960", 12},
        Case{"10", "fill a 0 40960 1 , fill a 16384 8192 2 , copy b 0 a 18432 4096", 4},
        Case{"10", "copy a 0 c 0 40960 , copy a 16384 c 0 8192 , copy b 0 a 0 40960", 12},
        Case{"10", "rows a 0 4096 2048 10 1 , fill a 16384 8192 2 , copy b 0 a 0 40960", 12},
        Case{"10", "fill a 0 40960 1 , rows a 16384 4096 2048 2 2 , copy b 0 a 0 40960", 14},
        Case{
            "10, as a graph", "fill a 0 40960 1 , fill a 16384 8192 2 , copy b 0 a 0 40960", {}, 6},
        Case{"11", "fill a 0 16384 1 , fill a 0 32768 2", 4},
        Case{"11", "fill a 0 32768 1 , copy a 0 b 0 16384", 4},
        Case{"11", "copy a 0 b 0 16384 , fill a 0 16384 2", 4},
        Case{"11", "fill a 0 8192 1 , fill a 8192 8192 2", 0},
        Case{"11", "fill a 0 12288 1 , copy a 4096 b 0 12288", 2},
        Case{"11", "fill a 4096 8192 1 , fill a 0 16384 2", 2},
        Case{"11", "rows a 0 8192 4096 4 1 , rows a 4096 8192 4096 4 2", 0},
        Case{"11", "rows a 0 8192 4096 4 1 , rows a 2048 8192 4096 4 2", 4},
        // 12: each waits for the one before; the last leaves two pieces, the others one
        Case{"12", twenty("fill a ", " 6144 1") + "copy b 0 a 0 83968", 19 + 21},
        Case{"12", twenty("copy a ", " c 0 6144") + "copy b 0 a 0 83968", 19 + 21},
        Case{"13", expression, 6 * 64}, Case{"13, as a graph", expression, {}, 6},
        Case{"14", "fill a 0 32768 1 , copy b 0 a 0 32768 , copy c 0 a 0 32768", 16},
        Case{"14", "fill a 0 32768 1 , copy b 0 a 0 32768 , copy c 0 a 0 32768 , two d b c 8 4096",
             32},
        Case{"14", "fill a 0 32768 1 , fill d 0 32768 2 , copy b 0 a 0 32768 , two c a d 8 4096",
             24},
        Case{"15", "fill a 0 32768 1 , copy b 0 a 0 32768 , mix c b a 8 4096 32768", 8 + 8 + 64},
        Case{"16", "fill a 0 32768 1 , copy d 0 c 0 32768 , mix b a d 8 4096 32768", 8 + 64},
        Case{"17", "fill a 0 16384 1 , copy b 0 a 0 16384 , copy c 0 a 0 16384 , fill a 0 16384 2",
             16},
        Case{"17",
             "copy a 0 d 0 16384 , copy b 0 a 0 16384 , copy c 0 a 0 16384 , copy a 0 d 0 16384",
             16},
        // 18: nothing leads from the first fill, whose memory was freed, to what comes after
        Case{"18",
             "fill a 0 262144 1 , free a , alloc a , copy b 0 a 0 262144 , fill a 0 262144 2 , "
             "copy b 0 a 0 262144",
             3 * 64},
        Case{"19", "fill a 0 262144 1 , sync , copy b 0 a 0 262144", 64},
        Case{"19", "put a 64 4096 , sync , copy b 0 a 0 262144", 64},
        Case{"20, more than a window", "copy b 0 a 0 65536 , map a 0 b 0 16 4096", 16 * 599, 300}));

}  // namespace
}  // namespace sluice::e2e
