// Random footprints and programs, against enumeration of every byte of every block.
// SLUICE_DRO_ROUNDS=n runs n times as many.
#include "dro/brute_force.hpp"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::dro::testing {
namespace {

uint32_t rounds(uint32_t usual) {
  const char* factor = std::getenv("SLUICE_DRO_ROUNDS");
  return factor == nullptr ? usual : usual * static_cast<uint32_t>(std::atoi(factor));
}

using BlockPair = std::pair<uint32_t, uint32_t>;  // (slave, master)

TEST(BruteForce, EdgesAndHazardsOfRandomPairsAreThoseOfTheirBytes) {
  std::map<size_t, int> forms;
  for (uint32_t seed = 0; seed < rounds(200); ++seed) {
    Generator generator(seed);
    Driver driver;
    const BufferId x = driver.buffer(64), y = driver.buffer(64);
    const std::vector<BoundArgument> bound = {{x, 0}, {y, 0}};
    const RandomKernel first = generator.kernel(2, 64), second = generator.kernel(2, 64);
    driver.launch(first.footprint, bound);
    const auto found = driver.launch(second.footprint, bound);
    const FlatLaunch master = flatten(first, bound), slave = flatten(second, bound);

    Hazards hazards;
    std::set<BlockPair> edges;
    for (uint32_t s = 0; s < slave.reads.size(); ++s) {
      for (uint32_t m = 0; m < master.reads.size(); ++m) {
        const bool raw = meet(slave.reads[s], master.claims[m]);
        const bool war = meet(slave.claims[s], master.reads[m]);
        const bool waw = meet(slave.claims[s], master.claims[m]);
        hazards = {hazards.raw || raw, hazards.war || war, hazards.waw || waw};
        if (raw || war || waw) edges.insert({s, m});
      }
    }
    ASSERT_EQ(found.size(), edges.empty() ? 0u : 1u) << "seed " << seed;
    if (edges.empty()) continue;
    EXPECT_EQ(found[0].dro->hazards, hazards) << "seed " << seed;
    const EdgeTable& table = driver.tracker().edge_table(found[0].dro->edges);
    std::set<BlockPair> drawn;
    for (uint32_t s = 0; s < slave.reads.size(); ++s) {
      for (uint32_t m : masters_of(table, s))
        drawn.insert({s, m});
    }
    EXPECT_EQ(drawn, edges) << "seed " << seed << ", form " << form_name(table);
    EXPECT_EQ(table.edge_count, edges.size()) << "seed " << seed;
    ++forms[table.form.index()];
  }
  // The test has seen each form but that of strides, which takes more space for so few blocks.
  EXPECT_EQ(forms.size(), std::variant_size_v<EdgeForm> - 1);
}

// Node is one block of one launch; Closure is reachability between all of them, as bits.
class Closure {
 public:
  explicit Closure(size_t nodes) : reaches_(nodes, std::vector<bool>(nodes)) {}
  void add(size_t from, size_t to) { reaches_[from][to] = true; }
  void close() {
    for (size_t k = 0; k < reaches_.size(); ++k) {
      for (auto& row : reaches_) {
        if (!row[k]) continue;
        for (size_t j = 0; j < row.size(); ++j)
          row[j] = row[j] || reaches_[k][j];
      }
    }
  }
  friend bool operator==(const Closure&, const Closure&) = default;

 private:
  std::vector<std::vector<bool>> reaches_;
};

// RandomProgram launches a few kernels again and again over four overlapping buffers.
struct RandomProgram {
  std::vector<FlatLaunch> launches;
  std::vector<std::vector<Dependence>> dependences;
  std::vector<size_t> first_node;
  size_t nodes = 0;
};

RandomProgram run_random_program(uint32_t seed, Driver& driver) {
  Generator generator(seed);
  std::vector<BufferId> buffers;
  const long buffer_count = generator.pick(1, 4);
  for (long i = 0; i < buffer_count; ++i)
    buffers.push_back(driver.buffer(48));
  std::vector<RandomKernel> kernels;
  for (int i = 0; i < 3; ++i)
    kernels.push_back(generator.kernel(2, 32));
  RandomProgram program;
  const long launches = generator.pick(3, 12);
  for (long i = 0; i < launches; ++i) {
    const RandomKernel& kernel = kernels[static_cast<size_t>(generator.pick(0, 2))];
    std::vector<BoundArgument> bound;
    for (int argument = 0; argument < 2; ++argument) {
      bound.push_back({buffers[static_cast<size_t>(generator.pick(0, buffer_count - 1))],
                       static_cast<uint64_t>(generator.pick(0, 2) * 8)});
    }
    program.dependences.push_back(driver.launch(kernel.footprint, bound));
    program.launches.push_back(flatten(kernel, bound));
    program.first_node.push_back(program.nodes);
    program.nodes += kernel.footprint.shape.grid.count();
  }
  return program;
}

TEST(BruteForce, EdgesOfRandomProgramsOrderAllConflictsAndNothingElse) {
  uint64_t hits = 0, implied = 0;
  for (uint32_t seed = 0; seed < rounds(12); ++seed) {
    Driver driver;
    const RandomProgram program = run_random_program(seed, driver);
    Closure drawn(program.nodes), needed(program.nodes);
    for (size_t s = 0; s < program.launches.size(); ++s) {
      for (const Dependence& dependence : program.dependences[s]) {
        const EdgeTable& table = driver.tracker().edge_table(dependence.dro->edges);
        for (uint32_t block = 0; block < table.slave_grid.count(); ++block) {
          for (uint32_t master : masters_of(table, block)) {
            drawn.add(program.first_node[dependence.master - 1] + master,
                      program.first_node[s] + block);
          }
        }
        hits += dependence.hit ? 1 : 0;
      }
      const FlatLaunch& slave = program.launches[s];
      size_t conflicting = 0;
      for (size_t m = 0; m < s; ++m) {
        const FlatLaunch& master = program.launches[m];
        bool conflicts = false;
        for (size_t i = 0; i < slave.reads.size(); ++i) {
          for (size_t j = 0; j < master.reads.size(); ++j) {
            if (meet(slave.reads[i], master.claims[j]) || meet(slave.claims[i], master.reads[j]) ||
                meet(slave.claims[i], master.claims[j])) {
              needed.add(program.first_node[m] + j, program.first_node[s] + i);
              conflicts = true;
            }
          }
        }
        conflicting += conflicts ? 1 : 0;
      }
      implied += conflicting - std::min(conflicting, program.dependences[s].size());
    }
    drawn.close();
    needed.close();
    EXPECT_EQ(drawn, needed) << "seed " << seed;
  }
  EXPECT_GT(hits, 0u);     // memory was used
  EXPECT_GT(implied, 0u);  // dependences were left out
}

// raw_masters() follows the rule literally, byte by byte: live writers are the last must-write and
// the may-writes after it.
std::vector<std::set<LaunchNumber>> raw_masters(const std::vector<FlatLaunch>& launches) {
  std::map<FlatByte, std::set<LaunchNumber>> writers;
  std::vector<std::set<LaunchNumber>> masters;
  for (size_t i = 0; i < launches.size(); ++i) {
    std::set<LaunchNumber>& found = masters.emplace_back();
    for (const auto& block : launches[i].reads) {
      for (const FlatByte& byte : block)
        found.insert(writers[byte].begin(), writers[byte].end());
    }
    for (const FlatByte& byte : launches[i].must_writes)
      writers[byte].clear();
    for (const auto& block : launches[i].claims) {
      for (const FlatByte& byte : block)
        writers[byte].insert(i + 1);
    }
  }
  return masters;
}

TEST(BruteForce, ReadsNameAllWritersWhoseDataTheyMaySee) {
  for (uint32_t seed = 1000; seed < 1000 + rounds(12); ++seed) {
    Driver driver;
    const RandomProgram program = run_random_program(seed, driver);
    const auto expected = raw_masters(program.launches);
    for (size_t i = 0; i < expected.size(); ++i) {
      std::set<LaunchNumber> found;
      for (const Dependence& dependence : program.dependences[i]) {
        if (dependence.dro->hazards.raw) found.insert(dependence.master);
      }
      EXPECT_EQ(found, expected[i]) << "seed " << seed << ", launch " << i + 1;
    }
  }
}

}  // namespace
}  // namespace sluice::dro::testing
