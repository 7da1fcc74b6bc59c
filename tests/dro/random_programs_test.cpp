// Random programs of launches and host copies: the graph orders exactly what has to be ordered, and
// any order that it allows computes what the program's own order does.
// SLUICE_DRO_PROGRAMS=n runs n programs in place of the usual number.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "dro/random_program.hpp"

namespace sluice::dro::testing {
namespace {

constexpr uint32_t shards = 4;
constexpr uint32_t usual_programs = 24;

uint32_t programs_of_a_shard() {
  const char* count = std::getenv("SLUICE_DRO_PROGRAMS");
  return (count == nullptr ? usual_programs : uint32_t(std::atoi(count))) / shards;
}

Graph drawn_graph(const Program& program) {
  Graph graph(program.nodes.size());
  graph.before = program.drawn;
  return graph;
}

// needed_graph() compares the bytes of all nodes.
Graph needed_graph(const Program& program) {
  const std::vector<Node>& nodes = program.nodes;
  Graph graph(nodes.size());
  for (size_t slave = 0; slave < nodes.size(); ++slave) {
    for (size_t master = 0; master < slave; ++master) {
      if (nodes[slave].launch == nodes[master].launch) continue;
      if (nodes[slave].host || hazards_between(nodes[master].touch, nodes[slave].touch).any()) {
        graph.before[slave].set(master);
      }
    }
  }
  return graph;
}

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t value = (a ^ (b + 0x9e3779b97f4a7c15)) * 0xbf58476d1ce4e5b9;
  value ^= value >> 29;
  return value * 0x94d049bb133111eb;
}

// Memory is the content of all bytes, and what each node has seen.
struct Memory {
  std::array<uint8_t, most_bytes> bytes{};
  std::vector<uint64_t> seen;
  friend bool operator==(const Memory&, const Memory&) = default;
};

// run() runs one node: what it writes depends on all that it reads, which of its may-writes happen
// as well.
void run(const std::vector<Node>& nodes, size_t number, Memory& memory) {
  const Node& node = nodes[number];
  uint64_t seen = number;
  for (size_t byte = 0; byte < most_bytes && !node.adds; ++byte) {
    if (node.touch.reads[byte]) seen = mixed(seen, memory.bytes[byte] + 256 * byte);
  }
  memory.seen[number] = seen;
  for (size_t byte = 0; byte < most_bytes; ++byte) {
    const uint64_t value = mixed(seen, byte);
    if (node.adds && node.touch.may_writes[byte]) memory.bytes[byte] += uint8_t(value >> 32);
    if (node.adds) continue;
    const bool happens = node.touch.may_writes[byte] && (value & 1) != 0;
    if (node.touch.must_writes[byte] || happens) memory.bytes[byte] = uint8_t(value >> 32);
  }
}

Memory run_in_order(const Program& program, const std::vector<size_t>& order) {
  Memory memory;
  memory.seen.resize(program.nodes.size());
  for (size_t node : order)
    run(program.nodes, node, memory);
  return memory;
}

// random_order() is a topological order of the edges, drawn with all that are ready equally likely.
std::vector<size_t> random_order(const Graph& graph, std::mt19937& random) {
  const size_t count = graph.before.size();
  std::vector<size_t> order, ready, missing(count);
  for (size_t node = 0; node < count; ++node) {
    missing[node] = graph.before[node].count();
    if (missing[node] == 0) ready.push_back(node);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const size_t next = ready.back();
    ready.pop_back();
    order.push_back(next);
    for (size_t node = next + 1; node < count; ++node) {
      if (graph.before[node][next] && --missing[node] == 0) ready.push_back(node);
    }
  }
  return order;
}

class RandomPrograms : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomPrograms, AreOrderedByTheirGraphAsTheirBytesDemand) {
  uint64_t launches = 0, hits = 0, nodes = 0;
  const uint32_t count = programs_of_a_shard();
  for (uint32_t i = 0; i < count && !HasFailure(); ++i) {
    const uint32_t seed = i + GetParam() * 1'000'000;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Program program = ProgramRun(seed).run();
    const Graph graph = drawn_graph(program);
    EXPECT_TRUE(graph.closed().before == needed_graph(program).closed().before);

    std::vector<size_t> order(program.nodes.size());
    for (size_t node = 0; node < order.size(); ++node)
      order[node] = node;
    const Memory sequential = run_in_order(program, order);
    std::mt19937 random(seed);
    for (int run = 0; run < 20; ++run) {
      order = random_order(graph, random);
      ASSERT_EQ(order.size(), program.nodes.size());
      EXPECT_TRUE(run_in_order(program, order) == sequential) << "order " << run;
    }
    launches += program.launches;
    hits += program.hits;
    nodes += program.nodes.size();
  }
  EXPECT_GT(hits, 0u);  // DROs came again
  printf("%u programs, %lu launches, %lu nodes, %lu dependences known before\n", count,
         static_cast<unsigned long>(launches), static_cast<unsigned long>(nodes),
         static_cast<unsigned long>(hits));
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomPrograms, ::testing::Range(0u, shards));

}  // namespace
}  // namespace sluice::dro::testing
